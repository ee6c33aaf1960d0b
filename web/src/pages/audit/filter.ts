import type { AuditFilter } from '@/api/audit'
import type { AuditSearch } from './route'

const hour = 3_600_000

/** Times that people pick from, as the address has them, with their words. */
export const lastDays: [value: string, label: string, length: number][] = [
  ['1h', 'the last hour', hour],
  ['24h', 'the last day', 24 * hour],
  ['7d', 'the last 7 days', 7 * 24 * hour],
  ['30d', 'the last 30 days', 30 * 24 * hour],
]

/**
 * filterOf is what the server is asked with. A length such as 7d is counted from the last full minute, so that
 * the same address asks the same for a while.
 */
export function filterOf(search: AuditSearch, now = Date.now()): AuditFilter {
  const length = lastDays.find(([value]) => value === search.since)?.[2]
  const since = length === undefined ? search.since : new Date(Math.floor(now / 60_000) * 60_000 - length).toISOString()
  return { action: search.action, state: search.state, key: search.key, since, until: search.until }
}
