import { useQueries, useQuery } from '@tanstack/react-query'
import { enclaveRunsQuery, mayBePartitions, mostPartitions, partitionQuery, type Partition } from '@/api/enclaves'
import { workspacesQuery } from '@/api/runs'
import type { Run } from '@/api/types'

/** Partitions are those that are known, with how many workspaces were not looked into. */
export interface Partitions {
  partitions: Partition[]
  left: number
}

/** usePartitions reads the partitions that there are: of an enclave, or all. */
export function usePartitions(enclave?: string) {
  const workspaces = useQuery(workspacesQuery)
  const all = mayBePartitions(workspaces.data ?? [], enclave)
  const records = useQueries({ queries: all.slice(0, mostPartitions).map(partitionQuery) })
  const failed = records.find(({ error }) => error !== null)
  const reading = workspaces.data === undefined || records.some(({ isPending }) => isPending)
  return {
    data: reading || failed ? undefined : { partitions: records.flatMap(({ data }) => data ?? []), left: Math.max(all.length - mostPartitions, 0) },
    error: workspaces.error ?? failed?.error ?? null,
    isPending: reading,
    refetch: () => {
      void workspaces.refetch()
      for (const one of records) if (one.error) void one.refetch()
    },
  }
}

/** useRuns reads the newest runs of partitions, by their paths. */
export function useRuns(partitions: Partition[]) {
  const runs = useQueries({ queries: partitions.map(({ path }) => enclaveRunsQuery(path)) })
  const failed = runs.find(({ error, data }) => error !== null && data === undefined)
  const reading = runs.some(({ isPending }) => isPending)
  return {
    data: reading ? undefined : new Map<string, Run[]>(partitions.map(({ path }, index) => [path, runs[index]?.data ?? []])),
    error: failed?.error ?? null,
    isPending: reading,
    refetch: () => {
      for (const one of runs) void one.refetch()
    },
  }
}
