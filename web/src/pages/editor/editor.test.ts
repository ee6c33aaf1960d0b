import { expect, test } from 'vitest'
import { placeOf, plain } from './lines'
import { isLeftOut, treeOf, whyNot, withoutTop } from './tree'

const entry = (path: string) => ({ path, size: 1, sha256: path })

test('files are a tree, folders first, and a closed folder hides what is in it', () => {
  const files = ['main.tf', 'modules/web/main.tf', 'modules/db/main.tf', 'a.tf'].map(entry)
  expect(treeOf(files, new Set()).map(({ path }) => path)).toEqual(['modules/', 'modules/db/', 'modules/db/main.tf', 'modules/web/', 'modules/web/main.tf', 'a.tf', 'main.tf'])
  expect(treeOf(files, new Set(['modules/'])).map(({ path }) => path)).toEqual(['modules/', 'a.tf', 'main.tf'])
})

test('a path is refused where it would break a rule of the server', () => {
  const files = ['main.tf', 'modules/web/main.tf'].map(entry)
  expect(whyNot('network.tf', files)).toBe('')
  for (const path of ['', '/a.tf', 'a//b.tf', '../a.tf', 'Main.tf', 'modules/web', 'modules']) expect(whyNot(path, files), path).not.toBe('')
})

test('an uploaded folder leaves its caches, its repository and local states behind', () => {
  expect(['infra/.terraform/x', 'infra/.git/config', 'infra/terraform.tfstate', 'a/b.tfplan'].every(isLeftOut)).toBe(true)
  expect(['infra/main.tf', 'infra/.terraform.lock.hcl', 'infra/.gitignore'].some(isLeftOut)).toBe(false)
  expect(withoutTop('infra/modules/main.tf')).toBe('modules/main.tf')
})

test('a line of the console is what a terminal would show, as text', () => {
  expect(plain('\u001b[31mred\u001b[0m <b>no markup</b>')).toBe('red <b>no markup</b>')
  expect(plain('10%\r20%\r')).toBe('20%')
})

test('a line that names a file and its line leads there', () => {
  const line = '│   on modules/web/main.tf line 12, in resource "x" "y":'
  const place = placeOf(line)!
  expect(place).toMatchObject({ file: 'modules/web/main.tf', line: 12 })
  expect(line.slice(place.at, place.end)).toBe('modules/web/main.tf line 12')
  expect(placeOf('Plan: 3 to add')).toBeUndefined()
})
