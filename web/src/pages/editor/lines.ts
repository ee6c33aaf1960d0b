/** Most lines that the console keeps; the run's own page has all. */
const most = 5000

const escapes = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[ -/]*[@-~]`, 'g')

/** Lines puts together lines of text from pieces of a log as they come, without colours. */
export class Lines {
  private lines: string[] = []
  private rest = ''

  /** add takes a piece, and returns all lines that are kept; the last one may go on. */
  add(piece: string): string[] {
    const parts = (this.rest + piece).split('\n')
    this.rest = parts.pop()!
    this.lines = [...this.lines, ...parts.map(plain)].slice(-most)
    return this.rest === '' ? this.lines : [...this.lines, plain(this.rest)]
  }

  /** from has a text in place of all that there is. */
  clear(): void {
    this.lines = []
    this.rest = ''
  }
}

/** plain is a line as a terminal would show it: without colours, and behind its last carriage return. */
function plain(line: string): string {
  const text = line.replace(escapes, '')
  const parts = text.split('\r').filter((part) => part !== '')
  return parts.at(-1) ?? ''
}

const place = /\bon ([^\s:"<>|]+) line (\d+)\b/

/** placeOf is the file and line that a line of a log names, as in "on main.tf line 3, in resource …". */
export function placeOf(line: string): { file: string; line: number; at: number; end: number } | undefined {
  const found = place.exec(line)
  if (!found) return undefined
  return { file: found[1]!, line: Number(found[2]), at: found.index + 3, end: found.index + found[0].length }
}
