import { deleteFile, isChanged, isMoved, moveFile, readFiles, readText, writeFile } from '@/api/files'
import type { Store } from './desk'

/** storeOf is the files of a workspace on the server. */
export function storeOf(workspace: string): Store {
  return {
    list: () => readFiles(workspace),
    read: (path) => readText(workspace, path),
    write: (path, text, base) => writeFile(workspace, path, text, base),
    remove: (path, base) => deleteFile(workspace, path, base),
    rename: (from, to, base) => moveFile(workspace, from, to, base),
    isChanged,
    isMoved,
  }
}
