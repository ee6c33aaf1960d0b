import { QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keysOf, Live } from './live'

/** Stream is an EventSource that the test speaks through. */
class Stream extends EventTarget {
  readyState = 1
  onerror: (() => void) | null = null
  closed = false

  constructor(readonly url: string) {
    super()
  }

  say(type: string, id: string, data: object = {}): void {
    this.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(data), lastEventId: id }))
  }

  close(): void {
    this.closed = true
  }
}

let streams: Stream[]
let told: string[]
let stop: () => void

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('EventSource', { CLOSED: 2 })
  streams = []
  told = []
  const client = new QueryClient()
  vi.spyOn(client, 'invalidateQueries').mockImplementation((filter) => {
    told.push(JSON.stringify(filter?.queryKey ?? 'everything'))
    return Promise.resolve()
  })
  stop = new Live(client, (url) => {
    streams.push(new Stream(url))
    return streams.at(-1) as unknown as EventSource
  }).start()
})

afterEach(() => {
  stop()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const change = (name: string) => ({ kind: 'state', action: 'state.write', at: '2026-01-31T12:00:00Z', name })

test('what has changed is read again, once for many events, and nothing else', () => {
  streams[0]!.say('ready', '1-0')
  streams[0]!.say('change', '2-0', change('prod/a'))
  streams[0]!.say('change', '3-0', change('prod/a'))
  expect(told).toEqual([])
  vi.advanceTimersByTime(300)
  expect(told).toEqual(keysOf(change('prod/a')).map((key) => JSON.stringify(key)))
})

test('a stream that the server has ended is opened again behind the last event, later each time', () => {
  streams[0]!.say('change', '7-1', change('a'))
  for (const [index, after] of [15_000, 30_000, 60_000, 60_000].entries()) {
    streams[index]!.readyState = 2
    streams[index]!.onerror?.()
    vi.advanceTimersByTime(after - 1)
    expect(streams).toHaveLength(index + 1)
    vi.advanceTimersByTime(1)
    expect(streams[index + 1]!.url).toBe('/api/v1/events?after=7-1')
  }
  // Meanwhile the page looks by itself, as often as that.
  expect(told.filter((one) => one === '"everything"')).toHaveLength(4)
})

test('a browser that comes back by itself is left to it', () => {
  streams[0]!.readyState = 0
  streams[0]!.onerror?.()
  vi.advanceTimersByTime(120_000)
  expect(streams).toHaveLength(1)
})

test('who was away for long reads everything, and so does who is told to', () => {
  streams[0]!.say('ready', '1-0')
  expect(told).toEqual([])
  streams[0]!.readyState = 0
  streams[0]!.onerror?.()
  vi.advanceTimersByTime(60_000)
  streams[0]!.say('ready', '9-0')
  expect(told).toEqual(['"everything"'])
  streams[0]!.say('reset', '99-0')
  expect(told).toEqual(['"everything"', '"everything"'])
})

test('a burst of changes is one look at everything', () => {
  for (let index = 0; index < 100; index++) streams[0]!.say('change', `${String(index)}-0`, change(`s${String(index)}`))
  vi.advanceTimersByTime(300)
  expect(told).toEqual(['"everything"'])
})

test('nothing is followed any more once it is stopped', () => {
  streams[0]!.say('change', '1-0', change('a'))
  stop()
  vi.advanceTimersByTime(100_000)
  expect([streams[0]!.closed, told, streams.length]).toEqual([true, [], 1])
})
