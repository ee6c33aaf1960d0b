import { expect, test } from 'vitest'
import { piecesOf, wordsOf } from './actions'
import { filterOf } from './filter'

test('runs that a note names are links, all else is text', () => {
  expect(piecesOf('run 01M81MSMKXX2XRJRVV7QHN9NDN <script>, by ana')).toEqual([{ text: 'run ' }, { run: '01M81MSMKXX2XRJRVV7QHN9NDN' }, { text: ' <script>, by ana' }])
  expect(piecesOf('')).toEqual([])
})

test('a length of time counts from the last full minute, and an exact time stands as it is', () => {
  const now = Date.parse('2026-01-31T12:00:40Z')
  expect(filterOf({ since: '24h' }, now).since).toBe('2026-01-30T12:00:00.000Z')
  expect(filterOf({ since: '24h' }, now + 10_000).since).toBe('2026-01-30T12:00:00.000Z')
  expect(filterOf({ since: '2026-01-01T00:00:00Z', key: 'k' }, now)).toMatchObject({ since: '2026-01-01T00:00:00Z', key: 'k' })
})

test('an action that the page does not know has its own name', () => {
  expect(wordsOf('state.write')).toBe('wrote a version')
  expect(wordsOf('moon.land')).toBe('moon.land')
})
