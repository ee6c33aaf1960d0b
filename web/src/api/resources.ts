import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answer, filled, server } from './call'
import type { CoverageStatus, Place, Source } from './types'

export interface ResourceFilter {
  q?: string | undefined
  type?: string | undefined
  provider?: string | undefined
  state?: string | undefined
}

/** searchQuery is what a search over states and uploads finds, page after page. */
export function searchQuery(filter: ResourceFilter & { source?: Source | undefined }) {
  return infiniteQueryOptions({
    queryKey: ['resources', 'search', filter],
    queryFn: ({ pageParam, signal }) => answer(server.GET('/api/v1/resources', { params: { query: filled({ ...filter, limit: 200, cursor: pageParam }) }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  })
}

/** coverageQuery is how many resources have each status. */
export function coverageQuery({ type, provider, state }: ResourceFilter) {
  return queryOptions({
    queryKey: ['resources', 'coverage', { type, provider, state }],
    queryFn: async ({ signal }) => {
      const said = await answer(server.GET('/api/v1/resources/coverage', { params: { query: filled({ type, provider, state }) }, signal }))
      if (!('counts' in said)) throw new Error('The server lists resources where it was asked for counts.')
      return said
    },
  })
}

/** coveredQuery is the resources of one status, each with what is the same object. */
export function coveredQuery({ type, provider, state }: ResourceFilter, status: CoverageStatus) {
  return infiniteQueryOptions({
    queryKey: ['resources', 'coverage', { type, provider, state }, status],
    queryFn: async ({ pageParam, signal }) => {
      const said = await answer(server.GET('/api/v1/resources/coverage', { params: { query: filled({ type, provider, state, status, limit: 200, cursor: pageParam }) }, signal }))
      if (!('resources' in said)) throw new Error('The server counts resources where it was asked for a list.')
      return said
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  })
}

/** historyQuery is every version of a state in which a resource changed, the newest first. */
export function historyQuery(state: string, address: Place['address']) {
  return infiniteQueryOptions({
    queryKey: ['resources', 'history', state, address],
    queryFn: ({ pageParam, signal }) =>
      answer(server.GET('/api/v1/resources/{address}/history', { params: { path: { address }, query: filled({ state, limit: 50, cursor: pageParam }) as { state: string } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  })
}
