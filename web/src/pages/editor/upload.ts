import { sendContents, storeFiles, type Files } from '@/api/files'
import { isLeftOut, withoutTop } from './tree'

/** Upload is a file that somebody has picked, with its path in the workspace. */
export interface Upload {
  path: string
  bytes: Uint8Array<ArrayBuffer>
}

/** uploadsOf reads what was picked; a folder's own name is no part of the paths. */
export async function uploadsOf(picked: Iterable<File>): Promise<Upload[]> {
  const files = [...picked]
    .map((file) => ({ file, path: file.webkitRelativePath === '' ? file.name : withoutTop(file.webkitRelativePath) }))
    .filter(({ file, path }) => !isLeftOut(file.webkitRelativePath || file.name) && path !== '')
  return Promise.all(files.map(async ({ file, path }) => ({ path, bytes: new Uint8Array(await file.arrayBuffer()) })))
}

async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** upload stores files beside those that are there, all of them or none; equal paths are replaced. */
export async function upload(workspace: string, uploads: Upload[], { number, files }: Files): Promise<Files> {
  const digests = await Promise.all(uploads.map(({ bytes }) => digestOf(bytes)))
  await sendContents(workspace, new Map(uploads.map(({ bytes }, index) => [digests[index]!, bytes])))
  const all = new Map(files.map((file) => [file.path, { ...file }]))
  uploads.forEach(({ path, bytes }, index) => all.set(path, { path, size: bytes.length, sha256: digests[index]!, executable: all.get(path)?.executable ?? false }))
  return storeFiles(workspace, [...all.values()], number, `upload ${String(uploads.length)} files`)
}
