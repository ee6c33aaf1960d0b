import { expect, test } from 'vitest'
import { sourceOf } from './source'

const commit = '0ec2efc0'

test('a folder at a commit has a page at its provider', () => {
  expect(sourceOf({ provider: 'github', url: 'https://github.com/acme/infra.git' }, commit, 'envs/prod web')).toBe('https://github.com/acme/infra/tree/0ec2efc0/envs/prod%20web')
  expect(sourceOf({ provider: 'gitlab', url: 'https://gitlab.example/acme/infra' }, commit, '.')).toBe('https://gitlab.example/acme/infra/-/tree/0ec2efc0/')
})

test('where none is known, nothing is made up', () => {
  expect(sourceOf(undefined, commit, '.')).toBeUndefined()
  expect(sourceOf({ provider: 'github', url: 'ssh://git@github.com/acme/infra.git' }, commit, '.')).toBeUndefined()
  expect(sourceOf({ provider: 'github', url: 'javascript:alert(1)' }, commit, '.')).toBeUndefined()
  expect(sourceOf({ provider: 'github', url: 'https://user:secret@github.com/acme/infra.git' }, commit, '.')).toBeUndefined()
})
