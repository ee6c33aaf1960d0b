import type { Inside } from '@/api/states'
import type { Folder, State, Workspace } from '@/api/types'
import type { Turned } from '@/lib/search'

/** Entry is a name of the organization: a state, a workspace, or both. */
export interface Entry {
  name: string
  state?: State | undefined
  workspace?: Workspace | undefined
}

/** Row is a line of the tree: a folder, what stands in one, or a place where more is to be read. */
export type Row =
  | { kind: 'folder'; path: string; label: string; depth: number; inside: string; open: boolean }
  | { kind: 'entry'; label: string; depth: number; entry: Entry }
  | { kind: 'more'; path: string; depth: number; reads: boolean }

/** Known is what was read of the tree so far; undefined where it is being read. */
export interface Known {
  folders: (path: string) => Folder[] | undefined
  inside: (path: string) => Inside | undefined
}

/** A folder is open at first where it has so few states, and so few stand beside it, that all of it is seen at once. */
const fewStates = 50
const fewFolders = 20

/** Branch is a folder of states, of workspaces, or of both. */
interface Branch {
  name: string
  states: number
  more: boolean
  workspaces: number
}

/** branchesOf joins the folders that states have with those that workspaces have, by name. */
function branchesOf(prefix: string, folders: Folder[], workspaces: Workspace[]): Branch[] {
  const all = new Map<string, Branch>(folders.map((folder) => [folder.name, { ...folder, workspaces: 0 }]))
  for (const { name } of workspaces) {
    const slash = name.startsWith(prefix) ? name.indexOf('/', prefix.length) : -1
    if (slash < 0) continue
    const path = name.slice(0, slash + 1)
    const known = all.get(path)
    if (known) known.workspaces++
    else all.set(path, { name: path, states: 0, more: false, workspaces: 1 })
  }
  return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function isOpen({ name, states, more, workspaces }: Branch, beside: number, turned: Turned): boolean {
  return turned.get(name) ?? (beside <= fewFolders && !more && Math.max(states, workspaces) <= fewStates)
}

/** openPaths are the folders whose content is shown, and so read: the outermost is ''. */
export function openPaths(folders: Known['folders'], workspaces: Workspace[], turned: Turned): string[] {
  const open: string[] = []
  walk('')
  return open

  function walk(path: string): void {
    open.push(path)
    const branches = branchesOf(path, folders(path) ?? [], workspaces)
    for (const branch of branches) {
      if (isOpen(branch, branches.length, turned)) walk(branch.name)
    }
  }
}

/** rowsOf lays out what is known as a tree by the segments of names: folders first, then what stands beside them. */
export function rowsOf(known: Known, workspaces: Workspace[], turned: Turned): Row[] {
  const rows: Row[] = []
  walk('', 0)
  return rows

  function walk(path: string, depth: number): void {
    const folders = known.folders(path)
    const inside = known.inside(path)
    const branches = branchesOf(path, folders ?? [], workspaces)
    for (const branch of branches) {
      const open = isOpen(branch, branches.length, turned)
      rows.push({ kind: 'folder', path: branch.name, label: branch.name.slice(path.length), depth, inside: insideOf(branch), open })
      if (open) walk(branch.name, depth + 1)
    }
    for (const entry of entriesOf(path, inside?.states ?? [], workspaces)) {
      rows.push({ kind: 'entry', label: entry.name.slice(path.length), depth, entry })
    }
    if (!folders || !inside || inside.more) rows.push({ kind: 'more', path, depth, reads: !folders || !inside })
  }
}

function insideOf({ states, more, workspaces }: Branch): string {
  if (states > 0) return `${states.toLocaleString()}${more ? '+' : ''}`
  return `${workspaces.toLocaleString()} never applied`
}

/** entriesOf joins states and workspaces that stand in a folder itself, which share their names, in the order of their names. */
export function entriesOf(path: string, states: State[], workspaces: Workspace[]): Entry[] {
  const all = new Map<string, Entry>(states.map((state) => [state.name, { name: state.name, state }]))
  for (const workspace of workspaces) {
    const { name } = workspace
    if (name.startsWith(path) && !name.includes('/', path.length)) all.set(name, { ...all.get(name), name, workspace })
  }
  return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
