const escapes = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[ -/]*[@-~]`, 'g')

/** plain is a line as a terminal would show it: without colours, and behind its last carriage return. */
export function plain(line: string): string {
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
