import { useQueries, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { foldersQuery, insideQuery } from '@/api/states'
import type { Folder, Workspace } from '@/api/types'
import type { Turned } from '@/lib/search'
import { openPaths, rowsOf, type Row } from './tree'

const first = 500

/** useTree is the tree as far as it is open: only what is shown is read. */
export function useTree(workspaces: Workspace[], turned: Turned): { rows: Row[]; error: unknown; again: () => void; isPending: boolean; more: (path: string) => void } {
  const client = useQueryClient()
  const [wanted, setWanted] = useState<ReadonlyMap<string, number>>(new Map())
  const paths = openPaths((path) => client.getQueryData<Folder[]>(foldersQuery(path).queryKey), workspaces, turned)
  const folders = useQueries({ queries: paths.map((path) => foldersQuery(path)) })
  const inside = useQueries({ queries: paths.map((path) => insideQuery(path, wanted.get(path) ?? first)) })
  const at = new Map(paths.map((path, index) => [path, index]))
  const failed = [...folders, ...inside].find(({ error, data }) => error && data === undefined)
  return {
    rows: rowsOf({ folders: (path) => folders[at.get(path) ?? -1]?.data, inside: (path) => inside[at.get(path) ?? -1]?.data }, workspaces, turned),
    error: failed?.error,
    again: () => { [...folders, ...inside].filter(({ error }) => error).forEach((query) => void query.refetch()) },
    isPending: folders[0]?.data === undefined || inside[0]?.data === undefined,
    more: (path) => { setWanted(new Map(wanted).set(path, (wanted.get(path) ?? first) + 1000)) },
  }
}
