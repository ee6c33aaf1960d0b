import { queryOptions } from '@tanstack/react-query'
import { answer, server } from './call'

/** standingQuery is what whoami says beyond who it is: limits in requests a minute, what is stored, what there is of runs. */
export const standingQuery = queryOptions({
  queryKey: ['standing'],
  queryFn: ({ signal }) => answer(server.GET('/api/v1/whoami', { signal })),
})
