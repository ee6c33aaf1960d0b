import { expect, test } from 'vitest'
import { texts } from '@/lib/search'
import { daysFrom, wordsIn } from './keys'

test('patterns come apart at spaces and commas', () => {
  expect(wordsIn(' prod/*,  dev/a\tx ')).toEqual(['prod/*', 'dev/a', 'x'])
  expect(wordsIn(' ')).toEqual([])
})

test('an end is so many days from now', () => {
  expect(daysFrom(new Date('2026-01-01T00:00:00Z'), 7)).toBe('2026-01-08T00:00:00.000Z')
})

test('a member of an address that reads like a number is the text it was', () => {
  expect(texts({ q: 42, key: 'a', other: 'x', state: '' }, 'q', 'key', 'state')).toEqual({ q: '42', key: 'a' })
})
