import { AnsiUp } from 'ansi_up'
import type { ReactNode } from 'react'

interface Fragment {
  text: string
  bold: boolean
  faint: boolean
  italic: boolean
  underline: boolean
  fg: { class_name: string } | null
}

/**
 * Pieces has ansi_up understand a terminal's colours, and takes what it understood instead of the
 * markup that it would make of that: what comes out are nodes, and what the log says is text in them.
 */
class Pieces extends AnsiUp {
  private pieces: ReactNode[] = []

  of(line: string): ReactNode[] {
    this.pieces = []
    this.ansi_to_html(`${line}\u001b[0m`)
    return this.pieces
  }

  // ansi_up calls this for each piece of one style; its types call it private.
  static {
    const hidden = Pieces.prototype as unknown as { transform_to_html: (this: Pieces, fragment: Fragment) => string; process_hyperlink: (this: Pieces, packet: { text: string }) => string }
    hidden.transform_to_html = function (fragment) {
      if (fragment.text !== '') this.pieces.push(styled(fragment, this.pieces.length))
      return ''
    }
    hidden.process_hyperlink = function (packet) {
      this.pieces.push(packet.text)
      return ''
    }
  }
}

function styled(fragment: Fragment, key: number): ReactNode {
  const names = [fragment.fg?.class_name, fragment.bold && 'ansi-bold', fragment.faint && 'ansi-faint', fragment.underline && 'ansi-underline'].filter(Boolean)
  if (names.length === 0) return fragment.text
  return (
    <span key={key} className={names.join(' ')}>
      {fragment.text}
    </span>
  )
}

const escape = String.fromCharCode(27)
const bell = String.fromCharCode(7)

/** Strings that a terminal would keep for itself, such as a link's address or a window's title, up to their end. */
const strings = new RegExp(`${escape}[\\]PX^_][^${bell}${escape}]*(?:${bell}|${escape}\\\\)`, 'g')

/** An escape that begins no whole sequence of a style, with the sign that opens a string without an end. */
const unfinished = new RegExp(`${escape}(?!\\[[0-9;?]*[ -/]*[@-~])[\\]PX^_[]?`, 'g')

/** whole leaves only whole sequences: a parser that waits for the rest of one would hide what stands behind it. */
function whole(line: string): string {
  return line.replace(strings, '').replace(unfinished, '')
}

/**
 * coloured is a line of a log as nodes, behind its last carriage return, as a terminal would show it. Each
 * line has a parser of its own, so that what one line holds never changes how another is shown.
 */
export function coloured(line: string): ReactNode[] {
  const shown = line.endsWith('\r') ? line.slice(0, -1) : line
  return new Pieces().of(whole(shown.slice(shown.lastIndexOf('\r') + 1)))
}

const style = new RegExp(`${escape}\\[[0-9;?]*[ -/]*[@-~]`, 'g')

/** plain is a line of a log without its colours, as people look for it. */
export function plain(line: string): string {
  return line.includes(escape) ? whole(line).replace(style, '') : line
}
