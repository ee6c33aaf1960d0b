import { expect, test } from 'vitest'
import { LogStore } from './log'

const bytes = (text: string) => new TextEncoder().encode(text)

test('pieces become lines, also where they end within a line or a character', () => {
  const log = new LogStore()
  const all = bytes('one\ntwö\nthree')
  log.add(1, 0, all.subarray(0, 7))
  log.add(1, 7, all.subarray(7))
  expect(log.lines).toEqual(['one', 'twö', 'three'])
})

test('what comes again after a lost connection is there once', () => {
  const log = new LogStore()
  log.add(1, 0, bytes('one\ntw'))
  log.add(1, 0, bytes('one\ntwo\n'))
  log.add(1, 4, bytes('two\n'))
  expect(log.lines).toEqual(['one', 'two'])
})

test('another attempt begins anew', () => {
  const log = new LogStore()
  log.add(1, 0, bytes('old\n'))
  log.add(2, 0, bytes('new\n'))
  expect(log.lines).toEqual(['new'])
})

test('a log without an end is bounded, and says how much was dropped', () => {
  const log = new LogStore(100)
  for (let at = 0; at < 1000; at++) log.add(1, at * 2, bytes('x\n'))
  expect(log.lines.length).toBeLessThanOrEqual(100)
  expect(log.lines.length + log.dropped).toBe(1000)
})

test('a line without an end is cut with a word about it, and what comes after its end is whole', () => {
  const log = new LogStore()
  const piece = bytes('x'.repeat(10_000))
  for (let at = 0; at < 100; at++) log.add(1, at * 10_000, piece)
  expect(log.lines).toHaveLength(1)
  expect(log.lines[0]!.length).toBeLessThan(21_000)
  expect(log.lines[0]).toMatch(/cut here: the download has the whole line$/)
  log.add(1, 1_000_000, bytes('\nnext\n'))
  expect(log.lines[1]).toBe('next')
})

test('long lines are bounded together, too', () => {
  const log = new LogStore(1000, 100_000)
  const line = bytes(`${'y'.repeat(9_999)}\n`)
  for (let at = 0; at < 100; at++) log.add(1, at * 10_000, line)
  expect(log.held).toBeLessThanOrEqual(100_000)
  expect(log.held).toBe(log.lines.reduce((sum, one) => sum + one.length, 0))
  expect(log.lines.length + log.dropped).toBe(100)
})
