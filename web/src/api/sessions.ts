import { queryOptions } from '@tanstack/react-query'
import { get, remove } from './call'

/** BrowserSession is one browser that somebody is signed in with. */
export interface BrowserSession {
  id: string
  began_at: string
  seen_at: string
  idle_at: string
  ends_at: string
  address: string
  agent: string
  current: boolean
}

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: async ({ signal }) => (await get<{ sessions: BrowserSession[] }>('/api/v1/sessions', {}, signal)).sessions,
})

export function endSession(id: string): Promise<unknown> {
  return remove(`/api/v1/sessions/${encodeURIComponent(id)}`)
}

/** endAllSessions signs out everywhere, here too. */
export function endAllSessions(): Promise<unknown> {
  return remove('/api/v1/sessions')
}
