import { Fragment, type ReactNode } from 'react'

/** What a summary's Markdown spells with &. Everything else that begins so is text. */
const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&#64;': '@' }

/** A piece of a line: code, what is bold, a sign that is meant as it stands, or an entity. */
const piece = /`([^`]+)`|\*\*((?:\\.|[^*\\])+)\*\*|\\([!-/:-@[-`{-~])|(&(?:lt|gt|amp|#64);)/

/**
 * Words shows a summary: lines, bullets, bold words and code. It knows no more of Markdown than that, and what it doesn't
 * know is text: no link, no picture and no markup comes out of it.
 */
export function Words({ text }: { text: string }) {
  return (
    <>
      {blocksOf(text).map((block, index) =>
        block.bullets ? (
          <ul key={index}>{block.lines.map((line, at) => <li key={at}>{inline(line)}</li>)}</ul>
        ) : (
          <p key={index}>{block.lines.map((line, at) => <Fragment key={at}>{at > 0 ? ' ' : ''}{inline(line)}</Fragment>)}</p>
        ),
      )}
    </>
  )
}

interface Block {
  bullets: boolean
  lines: string[]
}

/** blocksOf joins lines that belong together: bullets, and lines of one paragraph. */
function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  let open = false
  for (const raw of text.split('\n')) {
    const line = raw.trim()
    const bullets = line.startsWith('- ')
    const last = blocks.at(-1)
    if (line !== '') {
      const content = bullets ? line.slice(2) : line
      if (open && last?.bullets === bullets) last.lines.push(content)
      else blocks.push({ bullets, lines: [content] })
    }
    open = line !== ''
  }
  return blocks
}

function inline(line: string): ReactNode[] {
  const nodes: ReactNode[] = []
  let rest = line
  for (;;) {
    const found = piece.exec(rest)
    if (!found) return [...nodes, rest]
    const [whole, code, bold, sign, entity] = found
    nodes.push(rest.slice(0, found.index))
    if (code !== undefined) nodes.push(<code key={nodes.length}>{code}</code>)
    else if (bold !== undefined) nodes.push(<strong key={nodes.length}>{inline(bold)}</strong>)
    else nodes.push(sign ?? entities[entity ?? ''] ?? whole)
    rest = rest.slice(found.index + whole.length)
  }
}
