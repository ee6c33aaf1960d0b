import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { isSignedOut, RequestFailure } from './failure'
import { isOther, nameOf, signedIn } from './signedIn'
import type { Identity } from './types'

/** again says whether a failed read is worth another try: only where the server may be better soon. */
export function again(count: number, error: unknown): boolean {
  if (!(error instanceof RequestFailure)) return false
  const passing = error.code === 'unreachable' || error.status === 503 || error.status === 429
  return passing && count < 3
}

/** Under this key the cache says that the browser is signed in as another one by now. */
export const otherKey = ['other'] as const

/** newQueryClient makes the cache of everything that the server has said. */
export function newQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: signedOut }),
    mutationCache: new MutationCache({ onError: signedOut }),
    defaultOptions: {
      queries: { retry: again, staleTime: 15_000, refetchOnWindowFocus: true },
      mutations: { retry: false },
    },
  })
  // A session that has ended shows the sign-in page, at the same address; one of another person says so.
  function signedOut(error: unknown): void {
    if (isSignedOut(error)) client.setQueryData(['identity'], null)
    if (isOther(error)) client.setQueryData(otherKey, true)
  }
  // What is asked for beside the cache, such as a save of the editor, hears it too.
  signedIn.whenOver(signedOut)
  forgetOthers(client)
  return client
}

/**
 * forgetOthers drops what was read as one when another one is signed in, or nobody: keys of the cache name no
 * organization. It hears of it before any page is drawn anew, however the change came about.
 */
function forgetOthers(client: QueryClient): void {
  let before: string | undefined
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryKey[0] !== 'identity' || query.state.data === undefined) return
    const now = nameOf(query.state.data as Identity | null)
    // One who was not asked to sign in here has signed in in another tab.
    if (before && now && now !== before) client.setQueryData(otherKey, true)
    signedIn.holder = now
    if (before !== undefined && now !== before) client.removeQueries({ predicate: ({ queryKey }) => !ofAnybody.has(queryKey[0]) })
    before = now
  })
}

/** What is read before anybody is signed in, and who it is. */
const ofAnybody: ReadonlySet<unknown> = new Set(['identity', 'ways', 'other'])
