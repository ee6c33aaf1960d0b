import { queryOptions } from '@tanstack/react-query'
import { answer, server } from './call'
import { readText } from './files'
import type { Run, Workspace } from './types'

/** Partition is what a workspace's newest configuration says of the partition that the workspace is. */
export interface Partition {
  /** The workspace's name: ENCLAVE/PARTITION. */
  path: string
  enclave: string
  name: string
  produces: string
  backend: string
  /** Paths of the partitions that it imports from. */
  needs: string[]
}

const recordPath = '.holdfast/partition.json'

/** How many workspaces are looked into at most: each costs a request. */
export const mostPartitions = 500

/** mayBePartitions are the workspaces that may be partitions: of an enclave, or of any. */
export function mayBePartitions(workspaces: Workspace[], enclave?: string): Workspace[] {
  return workspaces.filter(({ name, snapshot }) => {
    const [first, second, ...more] = name.split('/')
    return snapshot !== undefined && second !== undefined && more.length === 0 && (enclave === undefined || first === enclave)
  })
}

/** partitionOf reads the record of a partition; null for a file that is another one's, or none. */
export function partitionOf(path: string, text: string | null): Partition | null {
  let said: unknown
  try {
    said = JSON.parse(text ?? 'null')
  } catch {
    return null
  }
  if (typeof said !== 'object' || said === null) return null
  const of = said as Record<string, unknown>
  const word = (name: string) => (typeof of[name] === 'string' ? of[name] : '')
  if (of.format !== 1 || `${word('enclave')}/${word('partition')}` !== path) return null
  const needs = Array.isArray(of.needs) ? of.needs.filter((need): need is string => typeof need === 'string') : []
  return { path, enclave: word('enclave'), name: word('name'), produces: word('produces'), backend: word('backend'), needs }
}

/** partitionQuery is the partition that a workspace is; null for one that is none. A configuration never changes. */
export function partitionQuery({ name, snapshot }: Workspace) {
  return queryOptions({
    queryKey: ['snapshot', 'partition', name, snapshot?.id],
    queryFn: async (): Promise<Partition | null> => partitionOf(name, (await readText(name, recordPath))?.text ?? null),
    staleTime: Infinity,
  })
}

/** enclaveRunsQuery is the newest runs of a partition. */
export function enclaveRunsQuery(path: string) {
  return queryOptions({
    queryKey: ['runs', 'partition', path],
    queryFn: async ({ signal }): Promise<Run[]> => (await answer(server.GET('/api/v1/runs', { params: { query: { workspace: path, limit: 50 } }, signal }))).runs,
  })
}
