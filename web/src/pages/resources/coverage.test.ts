import { expect, test } from 'vitest'
import type { Resource } from '@/api/types'
import { pathText, spread, valueText } from '@/ui/AttributeChanges'
import { byType, claimsOf, partsOf } from './coverage'

test('a bar is divided by numbers, and nothing is too thin to be clicked', () => {
  const parts = partsOf({ managed: 9990, missing: 10, claimed_twice: 5 })
  expect(parts.map(({ status }) => status.id)).toEqual(['managed', 'missing'])
  expect(parts[1]!.share).toBeGreaterThan(0.019)
  expect(parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1)
  expect(partsOf(undefined)).toEqual([])
})

test('what is claimed twice has a status besides, and is counted in a bar of its own', () => {
  const claims = claimsOf({ managed: 3, missing: 1, unmatched: 0, claimed_twice: 2 })
  expect(claims).toMatchObject({ twice: { count: 2, share: 0.5 }, rest: 0.5 })
  expect(claimsOf({ managed: 3, claimed_twice: 0 })).toBeNull()
  expect(claimsOf(undefined)).toBeNull()
})

test('types are counted, the most frequent first', () => {
  expect(byType(['b', 'a', 'b', 'c'].map((type) => ({ type }) as Resource))).toEqual([['b', 2], ['a', 1], ['c', 1]])
})

test('a path reads as people write it', () => {
  expect(pathText(['tags', 'Name'])).toBe('tags.Name')
  expect(pathText(['ingress', 0, 'port'])).toBe('ingress[0].port')
  expect(pathText(['tags', 'a b'])).toBe('tags["a b"]')
})

test('JSON inside of strings, and what came as a whole, is shown piece by piece', () => {
  expect(spread({ path: ['policy'], before: '{}', after: '{"a":1}', inside: [{ path: ['a'], after: 1 }] })).toEqual([{ path: ['policy', 'a'], after: 1 }])
  expect(spread({ path: [], after: { b: 1, a: null } })).toEqual([{ path: ['a'], after: null }, { path: ['b'], after: 1 }])
  expect(spread({ path: ['x'], before: 1, after: 2 })).toEqual([{ path: ['x'], before: 1, after: 2 }])
  expect(valueText('<b>')).toBe('"<b>"')
})
