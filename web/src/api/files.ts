import { answer, answered, bytesAs, filled, server } from './call'
import { RequestFailure } from './failure'
import type { FileEntry } from './types'

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


/** isMoved says that somebody else has changed the configuration since the number that a change builds on. */
export function isMoved(error: unknown): boolean {
  return error instanceof RequestFailure && error.code === 'snapshot_moved'
}

/** isChanged says that a file is not, or not any more, what a change of it builds on. */
export function isChanged(error: unknown): boolean {
  return error instanceof RequestFailure && error.code === 'file_changed'
}

/** readFiles lists the files, the newest or those of a number; a workspace without a configuration has none, and the number 0. */
export async function readFiles(name: string, number?: number): Promise<Files> {
  try {
    const said = await answer(server.GET('/api/v1/workspaces/{name}/-/files', { params: { path: { name }, query: filled({ snapshot: number === undefined ? undefined : String(number) }) } }))
    return { number: said.snapshot.number, files: said.files }
  } catch (error) {
    if (error instanceof RequestFailure && error.code === 'snapshot_not_found') return { number: 0, files: [] }
    throw error
  }
}

/** readText reads a file as it is now; null for one that is gone. */
export async function readText(name: string, path: string): Promise<FileText | null> {
  try {
    const { files } = await answer(server.POST('/api/v1/workspaces/{name}/-/pull', { params: { path: { name } }, body: { paths: [path] } }))
    const file = files.find((one) => one.name === path)
    return file ? { path, sha256: file.sha256, text: file.base64 === undefined ? (file.content ?? '') : null } : null
  } catch (error) {
    if (error instanceof RequestFailure && (error.code === 'file_not_found' || error.code === 'snapshot_not_found')) return null
    throw error
  }
}

/** onTop says what a change of a file builds on: its digest, or that there is none. */
const onTop = (base: string | null) => (base === null ? { 'If-None-Match': '*' } : { 'If-Match': `"${base}"` })

/**
 * writeFile stores a file on top of what it was, and returns its digest. Where it is something else by
 * now, nothing is stored. It is a draft: what is saved a second later takes its place.
 */
export async function writeFile(name: string, path: string, text: string, base: string | null): Promise<string> {
  const { response } = await answered(
    server.PUT('/api/v1/workspaces/{name}/-/files/{path}', {
      params: { path: { name, path }, query: { draft: true }, header: onTop(base) },
      ...bytesAs(new TextEncoder().encode(text)),
    }),
  )
  return (response.headers.get('ETag') ?? '').replaceAll('"', '')
}

export async function deleteFile(name: string, path: string, base: string): Promise<void> {
  await answer(server.DELETE('/api/v1/workspaces/{name}/-/files/{path}', { params: { path: { name, path }, header: onTop(base) } }))
}

export async function moveFile(name: string, from: string, to: string, base: string): Promise<void> {
  await answer(server.POST('/api/v1/workspaces/{name}/-/move', { params: { path: { name }, header: onTop(base) }, body: { from, to } }))
}

/** storeFiles makes the files those of an order; contents that the server lacks must have been sent. */
export async function storeFiles(name: string, files: FileEntry[], parent: number, message: string): Promise<Files> {
  const made = await answer(server.POST('/api/v1/workspaces/{name}/-/snapshots', { params: { path: { name } }, body: { files, parent, message } }))
  return readFiles(name, made.number)
}

/** sendContents sends those of the contents that the server lacks. */
export async function sendContents(name: string, contents: Map<string, Uint8Array<ArrayBuffer>>): Promise<void> {
  const { missing } = await answer(server.POST('/api/v1/workspaces/{name}/-/checksums', { params: { path: { name } }, body: { sha256: [...contents.keys()] } }))
  for (const digest of missing) {
    await answer(server.PUT('/api/v1/workspaces/{name}/-/contents/{digest}', { params: { path: { name, digest } }, ...bytesAs(contents.get(digest)!) }))
  }
}
