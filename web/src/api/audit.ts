import { infiniteQueryOptions } from '@tanstack/react-query'
import { get } from './call'

/** AuditEvent is one line of the audit log. */
export interface AuditEvent {
  sequence: number
  at: string
  action: string
  state?: string
  version?: number
  lock_id?: string
  refused?: string
  reason?: string
  note?: string
  key_id: string
  key_name?: string
  subject?: string
  role?: string
  address?: string
  request_id?: string
}

export interface AuditPage {
  events: AuditEvent[]
  next: number | null
}

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
    queryFn: ({ pageParam, signal }) => get<AuditPage>('/api/v1/audit', { ...filter, limit: 200, before: pageParam }, signal),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: follow ? 15_000 : false,
  })
}
