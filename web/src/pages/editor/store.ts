import { deleteFile, isChanged, isMoved, moveFile, readFiles, readText, writeFile } from '@/api/files'
import { RequestFailure } from '@/api/failure'
import { signedIn } from '@/api/signedIn'
import type { Store } from './desk'

/** storeOf is the files of a workspace on the server, for as long as the one who has opened them is signed in. */
export function storeOf(workspace: string, holder: string, now = signedIn): Store {
  const held = async <T>(work: () => Promise<T>): Promise<T> => {
    if (now.holder !== holder) throw new RequestFailure(401, { code: 'session_over', message: 'Who has typed this is not signed in any more.' })
    return work()
  }
  return {
    list: () => held(() => readFiles(workspace)),
    read: (path) => held(() => readText(workspace, path)),
    write: (path, text, base) => held(() => writeFile(workspace, path, text, base)),
    remove: (path, base) => held(() => deleteFile(workspace, path, base)),
    rename: (from, to, base) => held(() => moveFile(workspace, from, to, base)),
    isChanged,
    isMoved,
  }
}
