import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Follower, type Link } from './follow'

/** Source is as much of an EventSource as a follower uses. */
class Source extends EventTarget {
  readyState = 0
  onopen: (() => void) | null = null
  onerror: (() => void) | null = null
  closed = false

  close(): void { this.closed = true }

  refuse(): void {
    this.readyState = 2
    this.onerror?.()
  }

  say(kind: string, data: unknown, lastEventId: string): void {
    this.dispatchEvent(new MessageEvent(kind, { data: JSON.stringify(data), lastEventId }))
  }
}

function followed(gone = () => Promise.resolve(false)) {
  const urls: string[] = []
  const sources: Source[] = []
  const links: Link[] = []
  const pieces: number[] = []
  const reader = { link: (link: Link) => { links.push(link) }, add: (_: number, offset: number) => { pieces.push(offset) }, changed: () => undefined, gone }
  const stop = new Follower('/log?stream=plan', reader, (url) => {
    urls.push(url)
    sources.push(new Source())
    return sources.at(-1) as unknown as EventSource
  }).start()
  return { urls, sources, links, pieces, stop }
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('EventSource', { CLOSED: 2 })
})
afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals() })

test('a log whose stream was refused comes back behind its last event, with growing pauses', async () => {
  const { urls, sources, links, pieces } = followed()
  sources[0]!.say('log', { attempt: 1, offset: 0, bytes: btoa('x') }, '1:1')
  sources[0]!.refuse()
  for (const pause of [1000, 2000, 4000]) {
    await vi.advanceTimersByTimeAsync(pause - 1)
    const before = urls.length
    await vi.advanceTimersByTimeAsync(1)
    expect(urls.length).toBe(before + 1)
    sources.at(-1)!.refuse()
  }
  expect(urls[1]).toBe('/log?stream=plan&after=1%3A1')
  await vi.advanceTimersByTimeAsync(60_000)
  sources.at(-1)!.say('log', { attempt: 1, offset: 1, bytes: btoa('y') }, '1:2')
  expect(pieces).toEqual([0, 1])
  expect(links).not.toContain('ended')
})

test('a log of a run that is gone, or of a session that is over, ends', async () => {
  const { urls, sources, links } = followed(() => Promise.resolve(true))
  sources[0]!.refuse()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(urls).toHaveLength(1)
  expect(links.at(-1)).toBe('ended')
})

test('who looks away is followed no further', async () => {
  const { urls, sources, stop } = followed()
  sources[0]!.refuse()
  stop()
  await vi.advanceTimersByTimeAsync(600_000)
  expect(urls).toHaveLength(1)
})
