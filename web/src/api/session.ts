import { queryOptions, useQuery } from '@tanstack/react-query'
import { answer, server } from './call'
import { isSignedOut } from './failure'
import { otherKey } from './client'
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
      return await answer(server.GET('/api/v1/whoami', { signal }))
    } catch (error) {
      if (isSignedOut(error)) return null
      throw error
    }
  },
  staleTime: 60_000,
})

/** waysQuery is how people may sign in here: with a key always, and with an issuer where the server has one. */
export const waysQuery = queryOptions({
  queryKey: ['ways'],
  queryFn: ({ signal }) => answer(server.GET('/api/v1/session/ways', { signal })),
  staleTime: Infinity,
})

export function signIn(credentials: Credentials): Promise<unknown> {
  return answer(server.POST('/api/v1/session', { body: credentials }))
}

export function signOut(): Promise<unknown> {
  return answer(server.DELETE('/api/v1/session'))
}

/** otherQuery says that the browser is signed in as another one by now than the page shows. */
export const otherQuery = queryOptions({ queryKey: otherKey, queryFn: () => false, initialData: false, staleTime: Infinity, gcTime: Infinity })

/** useMay tells whether who is signed in has a right. The server asks again, whatever this says. */
export function useMay(): (right: string) => boolean {
  const { data } = useQuery(identityQuery)
  return (right) => data?.rights?.includes(right) ?? false
}
