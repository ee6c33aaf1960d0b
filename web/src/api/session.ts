import { queryOptions, useQuery } from '@tanstack/react-query'
import { get, post, remove } from './call'
import { isSignedOut } from './failure'
import type { Identity } from './types'

/** Credentials are what somebody signs in with: a key, and the organization where the key does not carry it. */
export interface Credentials {
  key: string
  org?: string
}

/** identityQuery is who is signed in; null for nobody. */
export const identityQuery = queryOptions({
  queryKey: ['identity'],
  queryFn: async ({ signal }): Promise<Identity | null> => {
    try {
      return await get<Identity>('/api/v1/whoami', {}, signal)
    } catch (error) {
      if (isSignedOut(error)) return null
      throw error
    }
  },
  staleTime: 60_000,
})

/** Ways are the ways to sign in: a key always, and an issuer where the server has one. */
export interface Ways {
  issuer: { name: string; start: string } | null
}

/** waysQuery is how people may sign in here. */
export const waysQuery = queryOptions({
  queryKey: ['ways'],
  queryFn: ({ signal }) => get<Ways>('/api/v1/session/ways', {}, signal),
  staleTime: Infinity,
})

export function signIn(credentials: Credentials): Promise<unknown> {
  return post('/api/v1/session', credentials)
}

export function signOut(): Promise<unknown> {
  return remove('/api/v1/session')
}

/** useMay tells whether who is signed in has a right. The server asks again, whatever this says. */
export function useMay(): (right: string) => boolean {
  const { data } = useQuery(identityQuery)
  return (right) => data?.rights?.includes(right) ?? false
}
