import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { get, post } from './call'
import type { Run, RunChanges, RunEvents, Runs, RunStatusName, Snapshot, Workspace, Workspaces } from './types'

/** Statuses from which a run goes on by itself or by somebody's word. */
export const unfinished: readonly RunStatusName[] = [
  'pending',
  'preparing',
  'planning',
  'checking',
  'awaiting_approval',
  'confirmed',
  'applying',
  'retrying',
  'orphaned',
]

export function isUnfinished(status: RunStatusName): boolean {
  return unfinished.includes(status)
}

export interface RunFilter {
  workspace?: string | undefined
  kind?: string | undefined
  status?: string | undefined
}

export function runsQuery(filter: RunFilter, limit = 100) {
  return infiniteQueryOptions({
    queryKey: ['runs', filter, limit],
    queryFn: ({ pageParam, signal }) => get<Runs>('/api/v1/runs', { ...filter, limit, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: 15_000,
  })
}

/** recentRunsQuery is the newest runs of all workspaces. */
export const recentRunsQuery = queryOptions({
  queryKey: ['runs', 'recent'],
  queryFn: async ({ signal }) => (await get<Runs>('/api/v1/runs', { limit: 100 }, signal)).runs,
  refetchInterval: 15_000,
})

export function runQuery(id: string) {
  return queryOptions({
    queryKey: ['run', id],
    queryFn: ({ signal }) => get<Run>(`/api/v1/runs/${id}`, {}, signal),
    refetchInterval: (query) => (query.state.data && !isUnfinished(query.state.data.status) ? false : 15_000),
  })
}

export function runChangesQuery(id: string, pin: string | undefined) {
  return queryOptions({
    queryKey: ['run', id, 'changes', pin],
    queryFn: ({ signal }) => get<RunChanges>(`/api/v1/runs/${id}/changes`, {}, signal),
    enabled: pin !== undefined,
    staleTime: Infinity,
  })
}

export function runEventsQuery(id: string) {
  return queryOptions({
    queryKey: ['run', id, 'events'],
    queryFn: async ({ signal }) => {
      const all: RunEvents['events'] = []
      let after: number | undefined
      do {
        const page = await get<RunEvents>(`/api/v1/runs/${id}/events`, { after, limit: 1000 }, signal)
        all.push(...page.events)
        after = page.next ?? undefined
      } while (after !== undefined)
      return all
    },
  })
}

export function approve(id: string, digest: string, reason: string): Promise<Run> {
  return post(`/api/v1/runs/${id}/approve`, reason === '' ? { digest } : { digest, reason })
}

export function deny(id: string, digest: string, reason: string): Promise<Run> {
  return post(`/api/v1/runs/${id}/deny`, { digest, reason })
}

export function cancel(id: string, level: 'soft' | 'hard', reason: string): Promise<Run> {
  return post(`/api/v1/runs/${id}/cancel`, reason === '' ? { level } : { level, reason })
}

export function discardRun(id: string): Promise<Run> {
  return post(`/api/v1/runs/${id}/discard`)
}

export function retry(id: string): Promise<Run> {
  return post(`/api/v1/runs/${id}/retry`)
}

export function resolve(id: string, reason: string): Promise<Run> {
  return post(`/api/v1/runs/${id}/resolve`, { reason })
}

export function startRun(workspace: string, kind: string, message: string): Promise<Run> {
  return post('/api/v1/runs', message === '' ? { workspace, kind } : { workspace, kind, message })
}

/** workspacesQuery is every workspace that the key may see. */
export const workspacesQuery = queryOptions({
  queryKey: ['workspaces'],
  queryFn: async ({ signal }): Promise<Workspace[]> => {
    const all: Workspace[] = []
    let cursor: string | undefined
    do {
      const page = await get<Workspaces>('/api/v1/workspaces', { limit: 1000, cursor }, signal)
      all.push(...page.workspaces)
      cursor = page.next ?? undefined
    } while (cursor !== undefined)
    return all
  },
})

export function snapshotsPath(workspace: string): string {
  return `/api/v1/workspaces/${encodeURIComponent(workspace)}/-/snapshots`
}

export function snapshotQuery(workspace: string, id: string) {
  return queryOptions({
    queryKey: ['snapshot', workspace, id],
    queryFn: async ({ signal }) => (await get<{ snapshot: Snapshot }>(`${snapshotsPath(workspace)}/${id}`, {}, signal)).snapshot,
    staleTime: Infinity,
    enabled: id !== '',
  })
}

/** weekQuery is the runs of the last seven days, at most 5,000 of them. */
export const weekQuery = queryOptions({
  queryKey: ['runs', 'week'],
  queryFn: async ({ signal }): Promise<Run[]> => {
    const since = Date.now() - 7 * 24 * 3600 * 1000
    const all: Run[] = []
    let cursor: string | undefined
    do {
      const page = await get<Runs>('/api/v1/runs', { limit: 1000, cursor }, signal)
      all.push(...page.runs)
      cursor = page.next ?? undefined
    } while (cursor !== undefined && all.length < 5000 && new Date(all.at(-1)!.created_at).getTime() >= since)
    return all.filter(({ created_at }) => new Date(created_at).getTime() >= since)
  },
  refetchInterval: 60_000,
})
