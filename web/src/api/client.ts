import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { isSignedOut, RequestFailure } from './failure'

/** again says whether a failed read is worth another try: only where the server may be better soon. */
export function again(count: number, error: unknown): boolean {
  if (!(error instanceof RequestFailure)) return false
  const passing = error.code === 'unreachable' || error.status === 503 || error.status === 429
  return passing && count < 3
}

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
  // A session that has ended shows the sign-in page, at the same address.
  function signedOut(error: unknown): void {
    if (isSignedOut(error)) client.setQueryData(['identity'], null)
  }
  return client
}
