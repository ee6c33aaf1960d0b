import { queryOptions } from '@tanstack/react-query'
import { answer, server } from './call'
import type { Pool } from './types'

export const poolsQuery = queryOptions({
  queryKey: ['pools'],
  queryFn: async ({ signal }): Promise<Pool[]> => (await answer(server.GET('/api/v1/pools', { signal }))).pools,
  // An agent's sign of life is no event; everything else about a pool is.
  refetchInterval: 15_000,
})

export function createPool(name: string, workspaces: string[]): Promise<Pool> {
  return answer(server.POST('/api/v1/pools', { body: { name, workspaces } }))
}

export function changePool(pool: string, workspaces: string[]): Promise<Pool> {
  return answer(server.PATCH('/api/v1/pools/{pool}', { params: { path: { pool } }, body: { workspaces } }))
}

export function rotatePool(pool: string): Promise<Pool> {
  return answer(server.POST('/api/v1/pools/{pool}/rotate', { params: { path: { pool } } }))
}

export function removePool(pool: string): Promise<unknown> {
  return answer(server.DELETE('/api/v1/pools/{pool}', { params: { path: { pool } } }))
}
