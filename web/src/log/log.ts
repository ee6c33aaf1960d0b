/** Most lines that are kept of a log: what is older is dropped, so that an endless log needs no endless memory. */
export const most = 200_000

/** Most characters that are kept of all lines, and of one: a log need not have any line end. */
const mostKept = 64_000_000
const longest = 20_000

const cut = ' … cut here: the download has the whole line'

/** LogStore has a log's lines as they come. It grows in place; its version says when to look again. */
export class LogStore {
  lines: string[] = []
  /** How many lines were dropped at the beginning. */
  dropped = 0
  version = 0
  /** How many characters the lines have. */
  held = 0
  private open = false
  private attempt = 0
  private end = 0
  private decoder = new TextDecoder()
  private readonly readers = new Set<() => void>()
  private told: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly limit = most,
    private readonly limitHeld = mostKept,
  ) {}

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
    this.held = 0
    this.end = 0
    this.open = false
    this.decoder = new TextDecoder()
  }

  private text(text: string): void {
    const parts = text.split('\n')
    const last = parts.length - 1
    for (const [index, part] of parts.entries()) {
      if (index === last && part === '') {
        if (index > 0) this.open = false
        break
      }
      if (this.open) this.lengthen(part)
      else this.push(part)
      this.open = index === last
    }
    this.makeRoom()
  }

  private push(line: string): void {
    const kept = bounded(line)
    this.lines.push(kept)
    this.held += kept.length
  }

  private lengthen(part: string): void {
    const at = this.lines.length - 1
    const line = this.lines[at]!
    if (line.length > longest) return // it ends where it was cut
    const kept = bounded(line + part)
    this.lines[at] = kept
    this.held += kept.length - line.length
  }

  private makeRoom(): void {
    let drop = 0
    // A tenth at once: to move all lines for each that is dropped would take too long.
    if (this.lines.length > this.limit) drop = this.lines.length - this.limit + Math.floor(this.limit / 10)
    let freed = 0
    for (let at = 0; at < drop; at++) freed += this.lines[at]!.length
    if (this.held - freed > this.limitHeld) {
      while (drop < this.lines.length - 1 && this.held - freed > this.limitHeld * 0.9) freed += this.lines[drop++]!.length
    }
    if (drop === 0) return
    this.lines.splice(0, drop)
    this.dropped += drop
    this.held -= freed
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

/** bounded cuts a line that is too long, with a word about it. A piece of a string would keep the whole in memory, so it is copied. */
function bounded(line: string): string {
  if (line.length <= longest) return line
  return Array.from({ length: Math.ceil(longest / 1000) }, (_, at) => line.slice(at * 1000, Math.min(longest, (at + 1) * 1000))).join('') + cut
}

/** bytesOf undoes base64. */
export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))
}
