import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answer, filled, pages, server } from './call'
import { RequestFailure } from './failure'
import type { Insight, Run, RunChanges, RunEvent, RunKind, RunStatusName, Snapshot, ToolVersions, Workspace, WorkspaceWanted } from './types'

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

/** mayApprove says whether a yes of somebody with these rights counts for a run's plan: who may apply it confirms it, unless somebody has to approve. */
export function mayApprove({ approvals_needed: needed = 0, gate_reasons: gates = [] }: Pick<Run, 'approvals_needed' | 'gate_reasons'>, may: (right: string) => boolean): boolean {
  return may('run:approve') || (needed === 0 && gates.length === 0 && may('run:apply'))
}

/** refusalOf says why a yes of who is signed in would not count for a run's plan, and whose would; undefined where it would, or where nobody knows. */
export function refusalOf({ asks }: Pick<Run, 'asks'>): string | undefined {
  if (asks?.refused === undefined) return undefined
  const names = asks.of.map(({ subject, key_name: name, key_id: id }) => subject || name || id)
  const more = asks.more ?? 0
  const all = more > 0 ? [...names, `${String(more)} more`] : names
  return all.length === 0 ? `${asks.refused}.` : `${asks.refused}. It waits for somebody else: ${all.join(', ')}.`
}

/** mayBreakGlass says whether somebody with these rights can have their yes be enough by itself, where others would have to say it too. */
export function mayBreakGlass({ approvals_needed: needed = 0, gate_reasons: gates = [], outside_decision: outside }: Pick<Run, 'approvals_needed' | 'gate_reasons' | 'outside_decision'>, may: (right: string) => boolean): boolean {
  return may('run:break_glass') && (needed > 0 || gates.length > 0 || outside?.state === 'asked')
}

/** No event tells of an executor's signs of life. */
const lifeSign = 15_000

export interface RunFilter {
  workspace?: string | undefined
  kind?: string | undefined
  status?: string | undefined
}

/** runsQuery is runs, the newest first: pages of them, or with a limit so many and no more. */
export function runsQuery({ workspace, kind, status }: RunFilter, limit = 100) {
  return infiniteQueryOptions({
    queryKey: ['runs', { workspace, kind, status }, limit],
    queryFn: ({ pageParam, signal }) => answer(server.GET('/api/v1/runs', { params: { query: filled({ workspace, kind: kind as RunKind | undefined, status, limit, cursor: pageParam }) }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  })
}

/** recentRunsQuery is the newest runs of all workspaces. */
export const recentRunsQuery = queryOptions({
  queryKey: ['runs', 'recent'],
  queryFn: async ({ signal }) => (await answer(server.GET('/api/v1/runs', { params: { query: { limit: 100 } }, signal }))).runs,
})

export function runQuery(id: string) {
  return queryOptions({
    queryKey: ['run', id],
    queryFn: ({ signal }): Promise<Run> => answer(server.GET('/api/v1/runs/{id}', { params: { path: { id } }, signal })),
    // What the tool has in flight comes with its executor's signs of life, which no event tells of.
    refetchInterval: ({ state: { data } }) => (data && isUnfinished(data.status) && (data.status === 'applying' || data.cancel) ? lifeSign : false),
  })
}

export function runChangesQuery(id: string, pin: string | undefined) {
  return queryOptions({
    queryKey: ['run', id, 'changes', pin],
    queryFn: ({ signal }): Promise<RunChanges> => answer(server.GET('/api/v1/runs/{id}/changes', { params: { path: { id } }, signal })),
    enabled: pin !== undefined,
    staleTime: Infinity,
  })
}

/** insightQuery is what a run's plan means. It says the same as long as the plan is that one, whatever else happens to the run. */
export function insightQuery({ id, pin }: Pick<Run, 'id' | 'pin'>) {
  return queryOptions({
    queryKey: ['run', id, 'insight', pin?.digest],
    queryFn: ({ signal }): Promise<Insight> => answer(server.GET('/api/v1/runs/{id}/insight', { params: { path: { id } }, signal })),
    enabled: pin !== undefined,
    staleTime: ({ state }) => (state.data ? 'static' : 0),
  })
}

export function runEventsQuery(id: string) {
  return queryOptions({
    queryKey: ['run', id, 'events'],
    queryFn: async ({ signal }) => {
      const all: RunEvent[] = []
      let after: number | undefined
      do {
        const page = await answer(server.GET('/api/v1/runs/{id}/events', { params: { path: { id }, query: filled({ after, limit: 1000 }) }, signal }))
        all.push(...page.events)
        after = page.next ?? undefined
      } while (after !== undefined)
      return all
    },
  })
}

const reasoned = (reason: string) => (reason === '' ? {} : { reason })

export function approve(id: string, digest: string, reason: string): Promise<Run> {
  return answer(server.POST('/api/v1/runs/{id}/approve', { params: { path: { id } }, body: { digest, ...reasoned(reason) } }))
}

/** breakGlass says yes for all who would have to. */
export function breakGlass(id: string, digest: string, reason: string): Promise<Run> {
  return answer(server.POST('/api/v1/runs/{id}/approve', { params: { path: { id } }, body: { digest, reason, break_glass: true } }))
}

export function deny(id: string, digest: string, reason: string): Promise<Run> {
  return answer(server.POST('/api/v1/runs/{id}/deny', { params: { path: { id } }, body: { digest, reason } }))
}

export function cancel(id: string, level: 'soft' | 'hard', reason: string): Promise<Run> {
  return answer(server.POST('/api/v1/runs/{id}/cancel', { params: { path: { id } }, body: { level, ...reasoned(reason) } }))
}

export function discardRun(id: string, reason: string): Promise<Run> {
  return answer(server.POST('/api/v1/runs/{id}/discard', { params: { path: { id } }, body: { reason } }))
}

export function retry(id: string): Promise<Run> {
  return answer(server.POST('/api/v1/runs/{id}/retry', { params: { path: { id } } }))
}

export function resolve(id: string, reason: string): Promise<Run> {
  return answer(server.POST('/api/v1/runs/{id}/resolve', { params: { path: { id } }, body: { reason } }))
}

export function startRun(workspace: string, kind: RunKind, message: string): Promise<Run> {
  return answer(server.POST('/api/v1/runs', { body: { workspace, kind, ...(message === '' ? {} : { message }) } }))
}

/** lastAppliedQuery is the newest run before one whose plan was applied to the end; null for none among the last hundred of a kind. */
export function lastAppliedQuery({ id, workspace }: Pick<Run, 'id' | 'workspace'>) {
  return queryOptions({
    queryKey: ['run', id, 'last applied'],
    queryFn: async ({ signal }): Promise<Run | null> => {
      const pages = await Promise.all(
        (['apply', 'destroy'] as const).map((kind) => answer(server.GET('/api/v1/runs', { params: { query: { workspace, kind, status: 'succeeded', limit: 100, cursor: id } }, signal }))),
      )
      // IDs are in the order of time.
      const applied = pages.flatMap(({ runs }) => runs.filter(({ applied_at: at }) => at !== undefined)).sort((a, b) => (a.id < b.id ? 1 : -1))
      return applied[0] ?? null
    },
  })
}

/** workspacesQuery is every workspace that the key may see. */
export const workspacesQuery = queryOptions({
  queryKey: ['workspaces'],
  queryFn: ({ signal }): Promise<Workspace[]> =>
    pages(
      (cursor) => answer(server.GET('/api/v1/workspaces', { params: { query: filled({ limit: 1000, cursor }) }, signal })),
      (page) => page.workspaces,
    ),
})

/** workspaceQuery is one workspace; null for a state that has none. */
export function workspaceQuery(name: string) {
  return queryOptions({
    queryKey: ['workspaces', name],
    queryFn: async ({ signal }): Promise<Workspace | null> => {
      try {
        return await answer(server.GET('/api/v1/workspaces/{name}', { params: { path: { name } }, signal }))
      } catch (error) {
        if (error instanceof RequestFailure && error.status === 404) return null
        throw error
      }
    },
  })
}

/** toolsQuery is which versions of tools the server itself can plan with. */
export const toolsQuery = queryOptions({
  queryKey: ['tools'],
  queryFn: async ({ signal }): Promise<ToolVersions[]> => (await answer(server.GET('/api/v1/tools', { signal }))).tools,
})

export function createWorkspace(wanted: WorkspaceWanted): Promise<Workspace> {
  return answer(server.POST('/api/v1/workspaces', { body: wanted }))
}

export function snapshotQuery(name: string, snapshot: string) {
  return queryOptions({
    queryKey: ['snapshot', name, snapshot],
    queryFn: async ({ signal }): Promise<Snapshot> =>
      (await answer(server.GET('/api/v1/workspaces/{name}/-/snapshots/{snapshot}', { params: { path: { name, snapshot } }, signal }))).snapshot,
    staleTime: Infinity,
    enabled: snapshot !== '',
  })
}

/** filesDiffQuery is how the files of a snapshot differ from those of another one, line by line; without one, from nothing. */
export function filesDiffQuery(name: string, snapshot: string, from: string | undefined) {
  return queryOptions({
    queryKey: ['snapshot', name, snapshot, 'diff', from ?? null],
    queryFn: async ({ signal }) =>
      (await answer(server.GET('/api/v1/workspaces/{name}/-/snapshots/{snapshot}/diff', { params: { path: { name, snapshot }, query: filled({ from, format: 'text' as const }) }, parseAs: 'text', signal }))) as string,
    staleTime: Infinity,
  })
}
