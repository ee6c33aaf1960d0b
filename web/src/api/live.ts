import type { QueryClient, QueryKey } from '@tanstack/react-query'
import type { LiveChange } from './types'

/** keysOf says what of the server's data a change has made old: everything below these keys. */
export function keysOf(change: LiveChange): QueryKey[] {
  switch (change.kind) {
    case 'state':
      return [['home'], ['states'], ['resources'], ['audit'], ...(change.name === undefined ? [['state']] : [['state', change.name]])]
    case 'workspace':
      return [['home'], ['workspaces'], ['audit']]
    case 'run':
      // The list of layers is long, and looks for itself.
      return [['home'], ['runs'], ...(change.name === undefined ? [] : [['layer', change.name]]), ...(change.run === undefined ? [['run']] : [['run', change.run]])]
    case 'pool':
      return [['pools'], ['audit']]
    default:
      return [['audit'], ['keys'], ['organization'], ['sessions'], ['layers'], ['layer'], ['repositories']]
  }
}

/** What stays as it is whatever happens: who is signed in is asked when the server refuses, and what was said of a digest holds. */
const lasting = new Set<unknown>(['identity', 'ways', 'other', 'snapshot', 'layout'])

const gathered = 250
const tooMany = 50
const asleep = 15_000

/**
 * Live keeps what the page knows up to date: one stream of the server's events tells what has changed,
 * and what is shown of it is read again. The browser comes back by itself after a lost connection, to the
 * event behind which it was; where the server closes the stream for good, it is opened anew some seconds later.
 * A tab that was asleep, or a reader who was away for too long, reads all anew.
 */
export class Live {
  private source: EventSource | undefined
  private last = ''
  private stale = new Map<string, QueryKey>()
  private timer: ReturnType<typeof setTimeout> | undefined
  private retry: ReturnType<typeof setTimeout> | undefined
  private tries = 0
  private lostAt: number | undefined

  constructor(
    private readonly client: QueryClient,
    private readonly open: (url: string) => EventSource = (url) => new EventSource(url),
  ) {}

  /** start follows the organization's events until the function that it returns is called. */
  start(): () => void {
    this.connect()
    return () => {
      this.source?.close()
      this.source = undefined
      clearTimeout(this.timer)
      clearTimeout(this.retry)
      this.timer = undefined
      this.stale.clear()
    }
  }

  private connect(): void {
    const source = this.open(this.last === '' ? '/api/v1/events' : `/api/v1/events?after=${encodeURIComponent(this.last)}`)
    this.source = source
    const note = (event: Event) => {
      const { lastEventId } = event as MessageEvent<string>
      if (lastEventId !== '') this.last = lastEventId
      this.tries = 0
    }
    source.addEventListener('ready', (event) => {
      // Of events before the first one nothing is known, and what was read meanwhile may be older than it.
      const first = this.last === ''
      note(event)
      if (!first && this.lostAt !== undefined && Date.now() - this.lostAt > asleep) this.everything()
      this.lostAt = undefined
    })
    source.addEventListener('change', (event) => {
      note(event)
      for (const key of keysOf(JSON.parse((event as MessageEvent<string>).data) as LiveChange)) this.add(key)
    })
    source.addEventListener('reset', (event) => {
      note(event)
      this.everything()
    })
    source.onerror = () => {
      this.lostAt ??= Date.now()
      if (source.readyState !== EventSource.CLOSED) return // it comes back by itself
      this.retry = setTimeout(() => {
        // Where there is no stream to be had, looking now and then has to do.
        this.everything()
        this.connect()
      }, Math.min(60_000, asleep * 2 ** this.tries++))
    }
  }

  private add(key: QueryKey): void {
    this.stale.set(JSON.stringify(key), key)
    this.timer ??= setTimeout(() => { this.tell() }, gathered)
  }

  private tell(): void {
    this.timer = undefined
    const keys = [...this.stale.values()]
    this.stale.clear()
    if (keys.length > tooMany) {
      this.everything()
      return
    }
    for (const queryKey of keys) void this.client.invalidateQueries({ queryKey })
  }

  private everything(): void {
    this.stale.clear()
    void this.client.invalidateQueries({ predicate: ({ queryKey }) => !lasting.has(queryKey[0]) })
  }
}
