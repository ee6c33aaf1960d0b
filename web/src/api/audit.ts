import { infiniteQueryOptions } from '@tanstack/react-query'
import { answer, filled, server } from './call'

export interface AuditFilter {
  action?: string | undefined
  state?: string | undefined
  key?: string | undefined
  since?: string | undefined
  until?: string | undefined
}

/** auditQuery is the audit log, the newest first. The newest page is read again while somebody follows. */
export function auditQuery(filter: AuditFilter, follow: boolean) {
  return infiniteQueryOptions({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam, signal }) => answer(server.GET('/api/v1/audit', { params: { query: filled({ ...filter, limit: 200, before: pageParam }) }, signal })),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: follow ? 15_000 : false,
  })
}
