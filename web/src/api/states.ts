import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answer, filled, pages, server } from './call'
import type { Diff, Folder, Graph, Json, State, Version } from './types'

/** StateFilter says which states are wanted, beyond their place in the tree. */
export interface StateFilter {
  contains?: string | undefined
  held?: boolean | undefined
  deleted?: 'true' | undefined
}

/** foldersQuery is how the names of states go on in a folder, with how many states are in each; '' is the outermost. */
export function foldersQuery(prefix: string) {
  return queryOptions({
    queryKey: ['states', 'folders', prefix],
    queryFn: ({ signal }): Promise<Folder[]> =>
      pages(
        (cursor) => answer(server.GET('/api/v1/folders', { params: { query: filled({ prefix: prefix === '' ? undefined : prefix, limit: 1000, cursor }) }, signal })),
        (page) => page.folders,
      ),
  })
}

/** Inside is the states that stand in a folder itself, as far as they were read. */
export interface Inside {
  states: State[]
  more: boolean
}

/** insideQuery is the first states that stand in a folder itself. */
export function insideQuery(prefix: string, wanted: number) {
  return queryOptions({
    queryKey: ['states', 'inside', prefix, wanted],
    queryFn: async ({ signal }): Promise<Inside> => {
      const states: State[] = []
      let cursor: string | undefined
      do {
        const limit = Math.min(wanted - states.length, 1000)
        const page = await answer(server.GET('/api/v1/states', { params: { query: filled({ prefix: prefix === '' ? undefined : prefix, direct: true, limit, cursor }) }, signal }))
        states.push(...page.states)
        cursor = page.next ?? undefined
      } while (cursor !== undefined && states.length < wanted)
      return { states, more: cursor !== undefined }
    },
    placeholderData: keepPreviousData,
  })
}

/** foundQuery is the states that pass a filter, in whatever folder, page after page. */
export function foundQuery(filter: StateFilter) {
  return infiniteQueryOptions({
    queryKey: ['states', 'found', filter],
    queryFn: ({ pageParam, signal }) => answer(server.GET('/api/v1/states', { params: { query: filled({ ...filter, limit: 200, cursor: pageParam }) }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  })
}

/** lockedQuery is the states whose lock is held. */
export const lockedQuery = infiniteQueryOptions({
  queryKey: ['states', 'locked'],
  queryFn: ({ pageParam, signal }) => answer(server.GET('/api/v1/locks', { params: { query: filled({ limit: 200, cursor: pageParam }) }, signal })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next ?? undefined,
})

/** namedQuery is the first states that have letters in their names, for the search. */
export function namedQuery(contains: string) {
  return queryOptions({
    queryKey: ['states', 'named', contains],
    queryFn: async ({ signal }) => (await answer(server.GET('/api/v1/states', { params: { query: filled({ contains: contains === '' ? undefined : contains, limit: 500 }) }, signal }))).states,
    placeholderData: keepPreviousData,
  })
}

/** stateQuery is one state as the list has it. */
export function stateQuery(name: string) {
  return queryOptions({
    queryKey: ['state', name, 'summary'],
    queryFn: async ({ signal }): Promise<State | null> => {
      const page = await answer(server.GET('/api/v1/states', { params: { query: { prefix: name, deleted: 'any', limit: 1 } }, signal }))
      return page.states.find((state) => state.name === name) ?? null
    },
  })
}

export function versionsQuery(name: string) {
  return infiniteQueryOptions({
    queryKey: ['state', name, 'versions'],
    queryFn: ({ pageParam, signal }) => answer(server.GET('/api/v1/state/{name}/-/versions', { params: { path: { name }, query: filled({ limit: 200, before: pageParam }) }, signal })),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  })
}

/** versionQuery is one version, however old it is; null for none of this number. */
export function versionQuery(name: string, version: number) {
  return queryOptions({
    queryKey: ['state', name, 'version', version],
    queryFn: async ({ signal }): Promise<Version | null> => {
      const page = await answer(server.GET('/api/v1/state/{name}/-/versions', { params: { path: { name }, query: { limit: 1, before: version + 1 } }, signal }))
      return page.versions.find((one) => one.version === version) ?? null
    },
  })
}

/** diffQuery is how a version differs from another; from the one before it where none is named. */
export function diffQuery(name: string, version: number, against?: number) {
  return queryOptions({
    queryKey: ['state', name, 'diff', version, against ?? null],
    queryFn: async ({ signal }) => (await answer(server.GET('/api/v1/state/{name}/-/versions/{version}/diff', { params: { path: { name, version }, query: filled({ against }) }, signal }))) as Diff,
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  })
}

export function candidatesQuery(name: string) {
  return queryOptions({
    queryKey: ['state', name, 'candidates'],
    queryFn: ({ signal }) => answer(server.GET('/api/v1/state/{name}/-/candidates', { params: { path: { name }, query: { limit: 100 } }, signal })),
  })
}

export function candidateDiffQuery(name: string, id: string) {
  return queryOptions({
    queryKey: ['state', name, 'candidate', id, 'diff'],
    queryFn: async ({ signal }) => (await answer(server.GET('/api/v1/state/{name}/-/candidates/{id}/diff', { params: { path: { name, id } }, signal }))) as Diff,
  })
}

/** outputsQuery is the outputs; with sensitive, those that are secret too, which is recorded. */
export function outputsQuery(name: string, sensitive: boolean) {
  return queryOptions({
    queryKey: ['state', name, 'outputs', sensitive],
    queryFn: ({ signal }) => answer(server.GET('/api/v1/state/{name}/-/outputs', { params: { path: { name }, query: filled({ sensitive: sensitive || undefined }) }, signal })),
    // Secrets are forgotten as soon as nobody looks at them.
    gcTime: sensitive ? 0 : 300_000,
  })
}

/** contentQuery is a state with its sensitive values masked. */
export function contentQuery(name: string, version?: number) {
  return queryOptions({
    queryKey: ['state', name, 'content', version ?? null],
    queryFn: async ({ signal }) => (await answer(server.GET('/api/v1/state/{name}', { params: { path: { name }, query: filled({ view: 'redacted' as const, version }) }, signal }))) as Json,
  })
}

/** graphQuery is which resource of the newest version needs which. */
export function graphQuery(name: string) {
  return queryOptions({
    queryKey: ['state', name, 'graph'],
    queryFn: ({ signal }): Promise<Graph> => answer(server.GET('/api/v1/state/{name}/-/graph', { params: { path: { name } }, signal })),
  })
}

/** rollBack makes an older version the newest, on top of the version that was the newest as somebody said so. */
export function rollBack(name: string, version: number, reason: string, seen: string): Promise<Version> {
  return answer(server.POST('/api/v1/state/{name}/-/versions/{version}/rollback', { params: { path: { name, version }, header: { 'If-Match': `"${seen}"` } }, body: { reason } }))
}

export function releaseLock(name: string, reason: string): Promise<unknown> {
  return answer(server.POST('/api/v1/state/{name}/-/lock/release', { params: { path: { name } }, body: { reason } }))
}

export function promote(name: string, id: string, reason: string, anyway: boolean): Promise<Version> {
  return answer(server.POST('/api/v1/state/{name}/-/candidates/{id}/promote', { params: { path: { name, id } }, body: { reason, anyway } }))
}

export function discard(name: string, id: string, reason: string): Promise<unknown> {
  return answer(server.POST('/api/v1/state/{name}/-/candidates/{id}/discard', { params: { path: { name, id } }, body: { reason } }))
}

export function undelete(name: string): Promise<Version> {
  return answer(server.POST('/api/v1/state/{name}/-/undelete', { params: { path: { name } } }))
}

export function deleteState(name: string): Promise<unknown> {
  return answer(server.DELETE('/api/v1/state/{name}', { params: { path: { name } } }))
}
