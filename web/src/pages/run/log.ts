/** Most lines that are kept of a log: what is older is dropped, so that an endless log needs no endless memory. */
export const most = 200_000

/** LogStore has a log's lines as they come. It grows in place; its version says when to look again. */
export class LogStore {
  lines: string[] = []
  /** How many lines were dropped at the beginning. */
  dropped = 0
  version = 0
  private open = false
  private attempt = 0
  private end = 0
  private decoder = new TextDecoder()
  private readonly readers = new Set<() => void>()
  private told: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly limit = most) {}

  subscribe = (reader: () => void): (() => void) => {
    this.readers.add(reader)
    return () => this.readers.delete(reader)
  }

  /** add takes bytes of an attempt from an offset on. What is there already, after a lost connection, is passed over. */
  add(attempt: number, offset: number, bytes: Uint8Array): void {
    if (attempt !== this.attempt) this.begin(attempt)
    if (offset + bytes.length <= this.end) return
    const fresh = offset < this.end ? bytes.subarray(this.end - offset) : bytes
    this.end = offset + bytes.length
    this.text(this.decoder.decode(fresh, { stream: true }))
    this.tell()
  }

  private begin(attempt: number): void {
    this.attempt = attempt
    this.lines = []
    this.dropped = 0
    this.end = 0
    this.open = false
    this.decoder = new TextDecoder()
  }

  private text(text: string): void {
    const parts = text.split('\n')
    const last = parts.length - 1
    for (const [index, part] of parts.entries()) {
      if (index === last && part === '') break
      if (this.open) this.lines[this.lines.length - 1] += part
      else this.lines.push(part)
      this.open = index === last
    }
    if (this.lines.length > this.limit) {
      // A tenth at once: to move all lines for each that is dropped would take too long.
      const drop = this.lines.length - this.limit + Math.floor(this.limit / 10)
      this.lines.splice(0, drop)
      this.dropped += drop
    }
  }

  /** tell has the readers look at most ten times a second. */
  private tell(): void {
    this.version++
    this.told ??= setTimeout(() => {
      this.told = undefined
      this.readers.forEach((reader) => { reader() })
    }, 100)
  }
}

/** bytesOf undoes base64. */
export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))
}
