import { queryOptions } from '@tanstack/react-query'
import { answer, server } from './call'

/** homeQuery is what needs somebody, and how things are. */
export const homeQuery = queryOptions({
  queryKey: ['home'],
  queryFn: ({ signal }) => answer(server.GET('/api/v1/home', { signal })),
})
