import { deleteFile, isMoved, readFiles, readText, storeFiles, writeFile } from '@/api/files'
import type { Store } from './desk'

/** storeOf is the files of a workspace on the server. */
export function storeOf(workspace: string): Store {
  return {
    list: () => readFiles(workspace),
    read: (path) => readText(workspace, path),
    write: (path, text, parent) => writeFile(workspace, path, text, parent),
    remove: (path, parent) => deleteFile(workspace, path, parent),
    rename: async (from, to, parent) => {
      const { files } = await readFiles(workspace, parent)
      const renamed = files.map((file) => ({ path: file.path === from ? to : file.path, sha256: file.sha256, executable: file.executable ?? false }))
      return storeFiles(workspace, renamed, parent, `rename ${from} to ${to}`)
    },
    isMoved,
  }
}
