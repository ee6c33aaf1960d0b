import { queryOptions } from '@tanstack/react-query'
import { answer, filled, pages, server } from './call'
import { RequestFailure } from './failure'
import type { Drift, DriftTrend, Layer, LayerDrift, Repository, Run, Snapshot } from './types'

/** No event tells that time has come for a layer, or that a fetch has ended. */
const look = 15_000

/** layersQuery is every layer, by name. */
export const layersQuery = queryOptions({
  queryKey: ['layers'],
  queryFn: ({ signal }): Promise<Layer[]> =>
    pages(
      (cursor) => answer(server.GET('/api/v1/layers', { params: { query: filled({ limit: 500, cursor }) }, signal })),
      (page) => page.layers,
    ),
  // Many are read in several requests.
  refetchInterval: ({ state: { data = [] } }) => (data.length > 1000 ? 4 * look : look),
})

/** layerQuery is one layer with its last commits. */
export function layerQuery(name: string) {
  return queryOptions({
    queryKey: ['layer', name],
    queryFn: ({ signal }): Promise<Layer> => answer(server.GET('/api/v1/layers/{name}', { params: { path: { name } }, signal })),
    refetchInterval: look,
  })
}

/** ownerQuery is the layer that a workspace's files come from; null for a workspace whose files people write here. */
export function ownerQuery(name: string) {
  return queryOptions({
    queryKey: ['layer', name, 'owner'],
    queryFn: async ({ signal }): Promise<Layer | null> => {
      try {
        return await answer(server.GET('/api/v1/layers/{name}', { params: { path: { name } }, signal }))
      } catch (error) {
        // A server that keeps no repositories has no layers.
        if (error instanceof RequestFailure && (error.status === 404 || error.code === 'route_unknown')) return null
        throw error
      }
    },
  })
}

export function layerDriftQuery(name: string) {
  return queryOptions({
    queryKey: ['layer', name, 'drift'],
    queryFn: ({ signal }): Promise<LayerDrift> => answer(server.GET('/api/v1/layers/{name}/-/drift', { params: { path: { name } }, signal })),
    refetchInterval: look,
  })
}

/** driftQuery is what has drifted in all layers, by its cause. */
export const driftQuery = queryOptions({
  queryKey: ['layers', 'drift'],
  queryFn: ({ signal }): Promise<Drift> => answer(server.GET('/api/v1/drift', { signal })),
  refetchInterval: look,
})

/** trendQuery is what checks of all layers have found on each of the last 30 days. */
export const trendQuery = queryOptions({
  queryKey: ['layers', 'trend'],
  queryFn: ({ signal }): Promise<DriftTrend> => answer(server.GET('/api/v1/drift/trend', { signal })),
  refetchInterval: 4 * look,
})

export const repositoriesQuery = queryOptions({
  queryKey: ['repositories'],
  queryFn: ({ signal }): Promise<Repository[]> =>
    pages(
      (cursor) => answer(server.GET('/api/v1/repositories', { params: { query: filled({ limit: 100, cursor }) }, signal })),
      (page) => page.repositories,
    ),
  refetchInterval: look,
})

export function fetchRepository(repository: string): Promise<Repository> {
  return answer(server.POST('/api/v1/repositories/{repository}/fetch', { params: { path: { repository } } }))
}

export function syncLayer(name: string): Promise<Layer> {
  return answer(server.POST('/api/v1/layers/{name}/-/sync', { params: { path: { name } } }))
}

export function checkLayer(name: string): Promise<Layer> {
  return answer(server.POST('/api/v1/layers/{name}/-/check', { params: { path: { name } } }))
}

/** Made is what came of a layer's commits: its newest runs, and the configurations that those have. */
export interface Made {
  runs: Run[]
  snapshots: Snapshot[]
}

export function madeQuery(name: string) {
  return queryOptions({
    queryKey: ['runs', 'layer', name],
    queryFn: async ({ signal }): Promise<Made> => {
      const [{ runs }, { snapshots }] = await Promise.all([
        answer(server.GET('/api/v1/runs', { params: { query: { workspace: name, limit: 100 } }, signal })),
        answer(server.GET('/api/v1/workspaces/{name}/-/snapshots', { params: { path: { name }, query: { limit: 100 } }, signal })),
      ])
      return { runs, snapshots }
    },
  })
}

/** unexpectDrift takes back that drift is as it should be. */
export function unexpectDrift(name: string, id: string): Promise<LayerDrift> {
  return answer(server.DELETE('/api/v1/layers/{name}/-/expectations/{id}', { params: { path: { name, id } } }))
}
