import { queryOptions } from '@tanstack/react-query'
import { answer, server } from './call'
import type { BrowserSession } from './types'

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: async ({ signal }): Promise<BrowserSession[]> => (await answer(server.GET('/api/v1/sessions', { signal }))).sessions,
})

export function endSession(session: string): Promise<unknown> {
  return answer(server.DELETE('/api/v1/sessions/{session}', { params: { path: { session } } }))
}

/** endAllSessions signs out everywhere, here too. */
export function endAllSessions(): Promise<unknown> {
  return answer(server.DELETE('/api/v1/sessions'))
}
