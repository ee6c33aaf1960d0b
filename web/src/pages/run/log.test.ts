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
