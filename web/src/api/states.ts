import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { get, post, remove, statePath } from './call'
import type { Candidates, Diff, Json, Outputs, State, States, Version, Versions } from './types'

const pageSize = 1000

/** statesQuery is every state of the organization that the key may see, page after page. */
export const statesQuery = queryOptions({
  queryKey: ['states'],
  queryFn: async ({ signal }): Promise<State[]> => {
    const all: State[] = []
    let cursor: string | undefined
    do {
      const page = await get<States>('/api/v1/states', { limit: pageSize, cursor }, signal)
      all.push(...page.states)
      cursor = page.next ?? undefined
    } while (cursor !== undefined)
    return all
  },
})

/** stateQuery is one state as the list has it. */
export function stateQuery(name: string) {
  return queryOptions({
    queryKey: ['state', name, 'summary'],
    queryFn: async ({ signal }): Promise<State | null> => {
      for (const deleted of [undefined, true]) {
        const page = await get<States>('/api/v1/states', { prefix: name, deleted, limit: 1 }, signal)
        const found = page.states.find((state) => state.name === name)
        if (found) return found
      }
      return null
    },
  })
}

export function versionsQuery(name: string) {
  return infiniteQueryOptions({
    queryKey: ['state', name, 'versions'],
    queryFn: ({ pageParam, signal }) =>
      get<Versions>(statePath(name, 'versions'), { limit: 200, before: pageParam }, signal),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  })
}

/** diffQuery is how a version differs from another; from the one before it where none is named. */
export function diffQuery(name: string, version: number, against?: number) {
  return queryOptions({
    queryKey: ['state', name, 'diff', version, against ?? null],
    queryFn: ({ signal }) => get<Diff>(statePath(name, `versions/${String(version)}/diff`), { against }, signal),
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  })
}

export function candidatesQuery(name: string) {
  return queryOptions({
    queryKey: ['state', name, 'candidates'],
    queryFn: ({ signal }) => get<Candidates>(statePath(name, 'candidates'), { limit: 100 }, signal),
  })
}

export function candidateDiffQuery(name: string, id: string) {
  return queryOptions({
    queryKey: ['state', name, 'candidate', id, 'diff'],
    queryFn: ({ signal }) => get<Diff>(statePath(name, `candidates/${id}/diff`), {}, signal),
  })
}

/** outputsQuery is the outputs; with sensitive, those that are secret too, which is recorded. */
export function outputsQuery(name: string, sensitive: boolean) {
  return queryOptions({
    queryKey: ['state', name, 'outputs', sensitive],
    queryFn: ({ signal }) => get<Outputs>(statePath(name, 'outputs'), { sensitive: sensitive || undefined }, signal),
    // Secrets are forgotten as soon as nobody looks at them.
    gcTime: sensitive ? 0 : 300_000,
  })
}

/** contentQuery is a state with its sensitive values masked. */
export function contentQuery(name: string, version?: number) {
  return queryOptions({
    queryKey: ['state', name, 'content', version ?? null],
    queryFn: ({ signal }) => get<Json>(statePath(name), { view: 'redacted', version }, signal),
  })
}

export function rollBack(name: string, version: number, reason: string): Promise<Version> {
  return post(statePath(name, `versions/${String(version)}/rollback`), { reason })
}

export function releaseLock(name: string, reason: string): Promise<unknown> {
  return post(statePath(name, 'lock/release'), { reason })
}

export function promote(name: string, id: string, reason: string, anyway: boolean): Promise<Version> {
  return post(statePath(name, `candidates/${id}/promote`), { reason, anyway })
}

export function discard(name: string, id: string, reason: string): Promise<unknown> {
  return post(statePath(name, `candidates/${id}/discard`), { reason })
}

export function undelete(name: string): Promise<Version> {
  return post(statePath(name, 'undelete'))
}

export function deleteState(name: string): Promise<unknown> {
  return remove(statePath(name))
}
