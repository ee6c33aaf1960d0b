import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { get } from './call'
import type { ResourceChange, Version } from './types'

/** Extent says what an answer about resources is of. */
export interface Extent {
  sources: string[]
  limited?: boolean
  complete: boolean
  unread: { state: string; version: number; code: string }[]
  unread_more?: boolean
}

export interface Place {
  source: 'state' | 'upload'
  state?: string
  address: string
}

export interface Resource extends Place {
  type: string
  provider: string
  category?: string
  mode?: string
  module?: string
  name: string
  index_key?: string | number
  deposed?: string
  version?: number
  at: string
  attributes: Record<string, string> | null
  tags: Record<string, string> | null
  same?: Place[]
}

export interface ResourcePage extends Extent {
  resources: Resource[]
  next: string | null
}

export interface Counts extends Extent {
  counts: Record<string, Record<string, number>>
}

export interface Step {
  version: Version
  against: number
  changes: ResourceChange[]
}

export interface History {
  address: string
  history: Step[]
  unread: { version: number; code: string }[]
  next: string | null
}

export interface ResourceFilter {
  q?: string | undefined
  type?: string | undefined
  provider?: string | undefined
  state?: string | undefined
}

/** searchQuery is what a search over states and uploads finds, page after page. */
export function searchQuery(filter: ResourceFilter & { source?: string | undefined }) {
  return infiniteQueryOptions({
    queryKey: ['resources', 'search', filter],
    queryFn: ({ pageParam, signal }) => get<ResourcePage>('/api/v1/resources', { ...filter, limit: 200, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  })
}

/** coverageQuery is how many resources have each status. */
export function coverageQuery(filter: ResourceFilter) {
  return queryOptions({
    queryKey: ['resources', 'coverage', filter],
    queryFn: ({ signal }) => get<Counts>('/api/v1/resources/coverage', { ...filter }, signal),
  })
}

/** coveredQuery is the resources of one status. */
export function coveredQuery(filter: ResourceFilter, status: string) {
  return infiniteQueryOptions({
    queryKey: ['resources', 'coverage', filter, status],
    queryFn: ({ pageParam, signal }) => get<ResourcePage>('/api/v1/resources/coverage', { ...filter, status, limit: 200, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  })
}

/** historyQuery is every version of a state in which a resource changed, the newest first. */
export function historyQuery(state: string, address: string) {
  return infiniteQueryOptions({
    queryKey: ['resources', 'history', state, address],
    queryFn: ({ pageParam, signal }) =>
      get<History>(`/api/v1/resources/${encodeURIComponent(address)}/history`, { state, limit: 50, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  })
}
