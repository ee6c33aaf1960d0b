import type { FileEntry } from '@/api/types'

/** TreeRow is a line of the tree of files. */
export type TreeRow =
  | { kind: 'folder'; path: string; name: string; depth: number; open: boolean }
  | { kind: 'file'; path: string; name: string; depth: number }

/** treeOf lays files out as a tree: folders first, each by name; closed folders hide what is in them. */
export function treeOf(files: FileEntry[], closed: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = []
  walk(files.map(({ path }) => path), '', 0)
  return rows

  function walk(paths: string[], folder: string, depth: number): void {
    const folders = new Map<string, string[]>()
    const here: string[] = []
    for (const path of paths) {
      const slash = path.indexOf('/', folder.length)
      if (slash < 0) here.push(path)
      else {
        const name = path.slice(folder.length, slash)
        folders.set(name, [...(folders.get(name) ?? []), path])
      }
    }
    for (const [name, inside] of [...folders].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const path = `${folder}${name}/`
      const open = !closed.has(path)
      rows.push({ kind: 'folder', path, name, depth, open })
      if (open) walk(inside, path, depth + 1)
    }
    for (const path of here.sort()) rows.push({ kind: 'file', path, name: path.slice(folder.length), depth })
  }
}

/** whyNot says what is wrong with a path that somebody wants for a file; nothing for one that is fine. */
export function whyNot(path: string, files: FileEntry[]): string {
  if (path === '') return 'Write a name.'
  if (path.startsWith('/') || path.split('/').some((part) => part === '' || part === '.' || part === '..')) return 'A path has names between single slashes.'
  const taken = files.find((file) => file.path.toLowerCase() === path.toLowerCase())
  if (taken) return `${taken.path} is there already.`
  if (files.some((file) => file.path.startsWith(`${path}/`))) return 'A folder has this name.'
  return ''
}

const left = /(^|\/)(\.terraform|\.git|node_modules)\/|(^|\/)(\.DS_Store|terraform\.tfstate(\.backup)?)$|\.tfplan$/

/** isLeftOut says that a file of an uploaded folder is no part of a configuration: a cache, a repository, a local state. */
export function isLeftOut(path: string): boolean {
  return left.test(path)
}

/** withoutTop takes away the folder that all paths of an upload begin with. */
export function withoutTop(path: string): string {
  return path.slice(path.indexOf('/') + 1)
}

/** languageToFormat is the language in which the server formats a file; undefined where it does not. */
export function languageToFormat(path: string): 'hcl' | 'json' | undefined {
  if (/\.(tf|tfvars|tofu|hcl)$/.test(path)) return 'hcl'
  return path.endsWith('.json') ? 'json' : undefined
}
