import type { LogBytes } from '@/api/types'
import { bytesOf } from './log'

export type Link = 'open' | 'lost' | 'ended'

/** Reader is told of a log as it comes. */
export interface Reader {
  link: (link: Link) => void
  add: (attempt: number, offset: number, bytes: Uint8Array) => void
  /** The run has another status. */
  changed: () => void
  /** gone says whether there is nothing to come back to: the session is over, or the run is not there. */
  gone: () => Promise<boolean>
}

const shortest = 1000
const longest = 60_000

/**
 * Follower follows a log. The browser comes back by itself after a lost connection; where the answer was
 * a refusal it stops for good, and the stream is opened anew behind the last event, after a pause that grows.
 */
export class Follower {
  private source: EventSource | undefined
  private timer: ReturnType<typeof setTimeout> | undefined
  private last = ''
  private tries = 0
  private stopped = false

  constructor(
    private readonly address: string,
    private readonly reader: Reader,
    private readonly open: (url: string) => EventSource = (url) => new EventSource(url),
  ) {}

  /** start follows until the function that it returns is called. */
  start(): () => void {
    this.connect()
    return () => { this.stop() }
  }

  private stop(): void {
    this.stopped = true
    this.source?.close()
    clearTimeout(this.timer)
  }

  private connect(): void {
    const { reader } = this
    const source = this.open(this.last === '' ? this.address : `${this.address}&after=${encodeURIComponent(this.last)}`)
    this.source = source
    const heard = (event: Event): string => {
      const { data, lastEventId } = event as MessageEvent<string>
      if (lastEventId !== '') this.last = lastEventId
      this.tries = 0
      return data
    }
    source.onopen = () => { reader.link('open') }
    source.onerror = () => {
      reader.link('lost')
      if (source.readyState === EventSource.CLOSED) void this.again()
    }
    source.addEventListener('log', (event) => {
      const { attempt, offset, bytes } = JSON.parse(heard(event)) as LogBytes
      reader.add(attempt, offset, bytesOf(bytes))
    })
    source.addEventListener('status', (event) => {
      heard(event)
      reader.changed()
    })
    source.addEventListener('end', () => { this.end() })
  }

  private async again(): Promise<void> {
    if (await this.reader.gone()) {
      if (!this.stopped) this.end()
      return
    }
    if (!this.stopped) this.timer = setTimeout(() => { this.connect() }, Math.min(longest, shortest * 2 ** this.tries++))
  }

  private end(): void {
    this.stop()
    this.reader.link('ended')
    this.reader.changed()
  }
}
