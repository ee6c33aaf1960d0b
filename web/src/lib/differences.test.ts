import { expect, test } from 'vitest'
import { differences, unchanged } from './differences'

test('only what changed is listed, by its path', () => {
  const before = { name: 'web', ingress: [{ port: 443, from: ['10.0.0.0/8'] }], tags: { a: '1', b: '2' } }
  const after = { name: 'web', ingress: [{ port: 443, from: ['0.0.0.0/0'] }], tags: { a: '1' } }
  expect(differences(before, after)).toEqual([
    { path: ['ingress', 0, 'from', 0], before: '10.0.0.0/8', after: '0.0.0.0/0' },
    { path: ['tags', 'b'], before: '2' },
  ])
})

test('a value that is known later has no after', () => {
  expect(differences({ id: 'x' }, {}, { id: true })).toEqual([{ path: ['id'], before: 'x', unknown: true }])
})

test('a sensitive value is listed, since nobody sees whether it changes', () => {
  const hidden = { '(sensitive)': true }
  expect(differences({ password: hidden, user: 'a' }, { password: hidden, user: 'a' })).toEqual([{ path: ['password'], before: hidden, after: hidden }])
  expect(differences({ value: 'x' }, { value: hidden })).toEqual([{ path: ['value'], before: 'x', after: hidden }])
  expect(differences({ settings: { a: 1 } }, { settings: hidden })).toEqual([{ path: ['settings'], before: { a: 1 }, after: hidden }])
  expect(unchanged({ password: hidden, tags: [hidden], user: 'a' }, { password: hidden, tags: [hidden], user: 'a' })).toBe(1)
})

test('JSON in strings is looked into', () => {
  const [change] = differences({ policy: '{"a":1,"b":2}' }, { policy: '{"a":1,"b":3}' })
  expect(change?.inside).toEqual([{ path: ['b'], before: 2, after: 3 }])
})

test('absent and null are the same, and lists of other lengths are whole', () => {
  expect(differences({ a: null, l: [1] }, { l: [1, 2] })).toEqual([{ path: ['l'], before: [1], after: [1, 2] }])
})
