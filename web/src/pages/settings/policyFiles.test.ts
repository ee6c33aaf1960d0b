import { expect, test } from 'vitest'
import { changed, emptyBundle, policyFile, pricesFile, problemOf, waiversFile } from './policyFiles'

test('a new bundle has a policy, and each further one another name and package', () => {
  const { files } = emptyBundle()
  const more = [...files, policyFile(files)]
  const all = [...more, policyFile(more)]
  expect(all.map(({ path }) => path)).toEqual(['policy.rego', 'policy2.rego', 'policy3.rego'])
  expect(new Set(all.map(({ content }) => /^package (.+)$/m.exec(content)?.[1])).size).toBe(3)
  expect(problemOf(all)).toBeUndefined()
})

test('files with the same name, without one, or of another kind are named', () => {
  const { files } = emptyBundle()
  expect(problemOf([])).toBe('A bundle has at least one file.')
  expect(problemOf([...files, ...files])).toBe('There are two files with the name policy.rego.')
  expect(problemOf(changed(files, 0, { path: ' ', content: '' }))).toMatch(/^A file without a name is neither/)
  expect(problemOf([...files, { path: 'notes.txt', content: '' }])).toMatch(/^notes.txt is neither/)
  expect(problemOf([...files, waiversFile('2026-11-22'), pricesFile('2026-11-22')])).toBeUndefined()
})

test('changing a file leaves the others as they are', () => {
  const files = [waiversFile('2026-11-22'), pricesFile('2026-11-22')]
  expect(changed(files, 1, { path: 'prices.csv', content: 'x' })).toEqual([files[0], { path: 'prices.csv', content: 'x' }])
})
