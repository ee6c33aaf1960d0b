import type { State, Workspace } from '@/api/types'

/** Entry is a name of the organization: a state, a workspace, or both. */
export interface Entry {
  name: string
  state?: State
  workspace?: Workspace
}

/** Row is a line of the tree: a folder, or what stands in one. */
export type Row =
  | { kind: 'folder'; path: string; label: string; depth: number; inside: number; open: boolean }
  | { kind: 'entry'; label: string; depth: number; entry: Entry }

/** entriesOf joins states and workspaces, which share their names, in the order of their names. */
export function entriesOf(states: State[], workspaces: Workspace[]): Entry[] {
  const all = new Map<string, Entry>(states.map((state) => [state.name, { name: state.name, state }]))
  for (const workspace of workspaces) {
    all.set(workspace.name, { ...all.get(workspace.name), name: workspace.name, workspace })
  }
  return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** rowsOf lays entries out as a tree by the segments of their names; closed folders hide what is in them. */
export function rowsOf(entries: Entry[], closed: ReadonlySet<string>): Row[] {
  const rows: Row[] = []
  walk(entries, '', 0)
  return rows

  function walk(all: Entry[], folder: string, depth: number): void {
    for (let from = 0; from < all.length; ) {
      const entry = all[from]!
      const rest = entry.name.slice(folder.length)
      const slash = rest.indexOf('/')
      if (slash < 0) {
        rows.push({ kind: 'entry', label: rest, depth, entry })
        from++
        continue
      }
      const path = folder + rest.slice(0, slash + 1)
      let to = from
      while (to < all.length && all[to]!.name.startsWith(path)) to++
      const open = !closed.has(path)
      rows.push({ kind: 'folder', path, label: rest.slice(0, slash + 1), depth, inside: to - from, open })
      if (open) walk(all.slice(from, to), path, depth + 1)
      from = to
    }
  }
}
