import { queryOptions } from '@tanstack/react-query'
import { answer, server } from './call'
import type { Key, KeyMade, KeyWanted } from './types'

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: async ({ signal }): Promise<Key[]> => (await answer(server.GET('/api/v1/keys', { signal }))).keys,
})

export function makeKey(wanted: KeyWanted): Promise<KeyMade> {
  return answer(server.POST('/api/v1/keys', { body: wanted }))
}

/** rotateKey makes a key in the place of another, which stays good until a time; for seven days without one. */
export function rotateKey(key: string, until?: string): Promise<KeyMade> {
  return answer(server.POST('/api/v1/keys/{key}/rotate', { params: { path: { key } }, body: until === undefined ? {} : { until } }))
}

export function revokeKey(key: string): Promise<unknown> {
  return answer(server.DELETE('/api/v1/keys/{key}', { params: { path: { key } } }))
}
