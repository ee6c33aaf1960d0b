import { queryOptions } from '@tanstack/react-query'
import { get, post, remove } from './call'

/** Key is what somebody may come in with: a key, or a rule for tokens or certificates, which nobody changes here. */
export interface Key {
  id: string
  name: string
  kind: 'key' | 'oidc' | 'cert'
  role: string
  states: string[] | null
  expires: string | null
  from: string[] | null
  label: string
  used_at: string | null
  used_from: string
  own: boolean
}

export interface KeyWanted {
  name?: string
  role: string
  states?: string[]
  expires?: string
  from?: string[]
  label?: string
}

/** KeyMade is a new key, with its text, which is shown once. */
export interface KeyMade extends Key {
  key: string
  old: Key | null
}

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: async ({ signal }) => (await get<{ keys: Key[] }>('/api/v1/keys', {}, signal)).keys,
})

const keyPath = (id: string) => `/api/v1/keys/${encodeURIComponent(id)}`

export function makeKey(wanted: KeyWanted): Promise<KeyMade> {
  return post('/api/v1/keys', wanted)
}

/** rotateKey makes a key in the place of another, which stays good until a time; for seven days without one. */
export function rotateKey(id: string, until?: string): Promise<KeyMade> {
  return post(`${keyPath(id)}/rotate`, until === undefined ? {} : { until })
}

export function revokeKey(id: string): Promise<unknown> {
  return remove(keyPath(id))
}
