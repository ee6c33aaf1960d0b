import type { HunkData } from 'react-diff-view'

/** FileDiff is how a file differs: added, removed or modified, line by line unless it is no text or is large. */
export interface FileDiff {
  path: string
  how: 'added' | 'removed' | 'modified'
  hunks: HunkData[]
  /** What is said in place of lines, or beside them, such as another mode. */
  note: string
}

const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/**
 * parseUnified reads the server's line-by-line differences. How many lines a hunk has stands in its first
 * line: a removed line that begins with "-- " is so told from the next file's name.
 */
export function parseUnified(text: string): FileDiff[] {
  const lines = text.split('\n')
  const files: FileDiff[] = []
  let note = ''
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!
    const compared = /^Files (.+) and (.+) differ, and are not compared line by line$/.exec(line)
    if (compared) {
      files.push({ ...named(compared[1]!, compared[2]!), hunks: [], note: [note, 'No text, or too large to be compared line by line.'].filter(Boolean).join(' ') })
      note = ''
      at++
    } else if (line.startsWith('mode of ')) {
      note = `The ${line}.`
      at++
      // A file of which nothing but the mode differs has no lines behind it.
      const path = /^mode of (.+): \d+, before \d+$/.exec(line)?.[1]
      const next = lines[at] ?? ''
      if (path !== undefined && !next.startsWith('--- ') && !next.startsWith('Files ')) {
        files.push({ path, how: 'modified', hunks: [], note })
        note = ''
      }
    } else if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ')) {
      files.push({ ...named(line.slice(4), lines[at + 1]!.slice(4)), hunks: [], note })
      note = ''
      at += 2
    } else if (header.test(line) && files.length > 0) {
      at = hunkAt(lines, at, files.at(-1)!.hunks)
    } else {
      at++
    }
  }
  return files
}

function named(before: string, after: string): Pick<FileDiff, 'path' | 'how'> {
  const how = before === '/dev/null' ? 'added' : after === '/dev/null' ? 'removed' : 'modified'
  return { path: (how === 'removed' ? before : after).replace(/^[ab]\//, ''), how }
}

/** hunkAt reads the hunk that begins at a line, and returns where the next thing begins. */
function hunkAt(lines: string[], at: number, hunks: HunkData[]): number {
  const [content, oldAt, oldCount, newAt, newCount] = header.exec(lines[at]!)!
  const hunk: HunkData = { content, oldStart: Number(oldAt), oldLines: Number(oldCount ?? 1), newStart: Number(newAt), newLines: Number(newCount ?? 1), changes: [] }
  let [was, is] = [hunk.oldStart, hunk.newStart]
  for (at++; was < hunk.oldStart + hunk.oldLines || is < hunk.newStart + hunk.newLines; at++) {
    const line = lines[at]
    if (line === undefined) break
    const text = line.slice(1)
    if (line.startsWith('-')) hunk.changes.push({ type: 'delete', content: text, lineNumber: was++, isDelete: true })
    else if (line.startsWith('+')) hunk.changes.push({ type: 'insert', content: text, lineNumber: is++, isInsert: true })
    else if (!line.startsWith('\\')) hunk.changes.push({ type: 'normal', content: text, oldLineNumber: was++, newLineNumber: is++, isNormal: true })
  }
  hunks.push(hunk)
  return lines[at]?.startsWith('\\') ? at + 1 : at
}

/**
 * zipped has each line that went stand beside the one that came in its place: of lines that went, and behind
 * them lines that came, one of each in turn. That is how a view side by side wants them.
 */
export function zipped(hunk: HunkData): HunkData {
  const changes: HunkData['changes'] = []
  for (let at = 0; at < hunk.changes.length; ) {
    const run = (type: string) => {
      const from = at
      while (hunk.changes[at]?.type === type) at++
      return hunk.changes.slice(from, at)
    }
    const [gone, come] = [run('delete'), run('insert')]
    for (let index = 0; index < Math.max(gone.length, come.length); index++) {
      changes.push(...gone.slice(index, index + 1), ...come.slice(index, index + 1))
    }
    changes.push(...run('normal'))
  }
  return { ...hunk, changes }
}
