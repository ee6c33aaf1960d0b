import { queryOptions } from '@tanstack/react-query'
import { get, post, remove, send } from './call'

export interface Agent {
  id: string
  pool: string
  name: string
  version: string
  system: string
  sandbox: string
  draining: boolean
  seen_at: string
  runs?: string[]
}

export interface Pool {
  name: string
  created_at: string
  workspaces?: string[]
  lender?: string
  grants?: { organization: string; workspaces?: string[]; created_at: string }[]
  /** There once, in the answer that made it. */
  token?: string
  agents?: Agent[]
}

export const poolsQuery = queryOptions({
  queryKey: ['pools'],
  queryFn: async ({ signal }) => (await get<{ pools: Pool[] }>('/api/v1/pools', {}, signal)).pools,
  refetchInterval: 15_000,
})

const poolPath = (name: string) => `/api/v1/pools/${encodeURIComponent(name)}`

export function createPool(name: string, workspaces: string[]): Promise<Pool> {
  return post('/api/v1/pools', { name, workspaces })
}

export async function changePool(name: string, workspaces: string[]): Promise<Pool> {
  return (await (await send('PATCH', poolPath(name), { workspaces })).json()) as Pool
}

export function rotatePool(name: string): Promise<Pool> {
  return post(`${poolPath(name)}/rotate`)
}

export function removePool(name: string): Promise<unknown> {
  return remove(poolPath(name))
}
