import { address, get, post, send } from './call'
import { RequestFailure } from './failure'
import type { Snapshot } from './types'

/** FileEntry is a file of a workspace as lists have it. */
export interface FileEntry {
  path: string
  size: number
  sha256: string
  executable?: boolean
}

/** Files is what a workspace's configuration has, as of one number that grows with each change. */
export interface Files {
  number: number
  files: FileEntry[]
}

/** FileText is a file's content; text is null for a file that is no text. */
export interface FileText {
  path: string
  sha256: string
  text: string | null
}

const pathOf = (workspace: string, rest: string) => `/api/v1/workspaces/${encodeURIComponent(workspace)}/-/${rest}`
const filePath = (workspace: string, path: string) => pathOf(workspace, `files/${path.split('/').map(encodeURIComponent).join('/')}`)

/** isMoved says that somebody else has changed the configuration since the number that a change builds on. */
export function isMoved(error: unknown): boolean {
  return error instanceof RequestFailure && error.code === 'snapshot_moved'
}

/** isChanged says that a file is not, or not any more, what a change of it builds on. */
export function isChanged(error: unknown): boolean {
  return error instanceof RequestFailure && error.code === 'file_changed'
}

/** readFiles lists the files, the newest or those of a number; a workspace without a configuration has none, and the number 0. */
export async function readFiles(workspace: string, number?: number): Promise<Files> {
  try {
    const answer = await get<{ snapshot: Snapshot; files: FileEntry[] | null }>(pathOf(workspace, 'files'), { snapshot: number })
    return { number: answer.snapshot.number, files: answer.files ?? [] }
  } catch (error) {
    if (error instanceof RequestFailure && error.code === 'snapshot_not_found') return { number: 0, files: [] }
    throw error
  }
}

/** readTexts reads files as they are now. One that is gone is not in the answer. */
export async function readText(workspace: string, path: string): Promise<FileText | null> {
  try {
    const answer = await post<{ files: { name: string; sha256: string; content: string; base64?: string }[] }>(pathOf(workspace, 'pull'), { paths: [path] })
    const file = answer.files.find(({ name }) => name === path)
    return file ? { path, sha256: file.sha256, text: file.base64 === undefined ? file.content : null } : null
  } catch (error) {
    if (error instanceof RequestFailure && (error.code === 'file_not_found' || error.code === 'snapshot_not_found')) return null
    throw error
  }
}

/** onTop says what a change of a file builds on: its digest, or that there is none. */
const onTop = (base: string | null): Record<string, string> => (base === null ? { 'If-None-Match': '*' } : { 'If-Match': `"${base}"` })

/**
 * writeFile stores a file on top of what it was, and returns its digest. Where it is something else by
 * now, nothing is stored. It is a draft: what is saved a second later takes its place.
 */
export async function writeFile(workspace: string, path: string, text: string, base: string | null): Promise<string> {
  const response = await send('PUT', address(filePath(workspace, path), { draft: true }), new TextEncoder().encode(text), { headers: onTop(base) })
  return (response.headers.get('ETag') ?? '').replaceAll('"', '')
}

export async function deleteFile(workspace: string, path: string, base: string): Promise<void> {
  await send('DELETE', filePath(workspace, path), undefined, { headers: onTop(base) })
}

export async function moveFile(workspace: string, from: string, to: string, base: string): Promise<void> {
  await send('POST', pathOf(workspace, 'move'), { from, to }, { headers: onTop(base) })
}

/** storeFiles makes the files those of an order; contents that the server lacks must have been sent. */
export async function storeFiles(workspace: string, files: Pick<FileEntry, 'path' | 'sha256' | 'executable'>[], parent: number, message: string): Promise<Files> {
  const made = await post<Snapshot>(pathOf(workspace, 'snapshots'), { files, parent, message })
  return readFiles(workspace, made.number)
}

/** sendContents sends those of the contents that the server lacks. */
export async function sendContents(workspace: string, contents: Map<string, Uint8Array<ArrayBuffer>>): Promise<void> {
  const { missing } = await post<{ missing: string[] | null }>(pathOf(workspace, 'checksums'), { sha256: [...contents.keys()] })
  for (const digest of missing ?? []) await send('PUT', pathOf(workspace, `contents/${digest}`), contents.get(digest)!)
}
