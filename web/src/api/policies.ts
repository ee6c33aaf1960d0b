import { queryOptions } from '@tanstack/react-query'
import { answer, server } from './call'
import type { Policy, PolicyBundle, PolicyFile } from './types'

export const policiesQuery = queryOptions({
  queryKey: ['policies'],
  queryFn: async ({ signal }): Promise<Policy[]> => (await answer(server.GET('/api/v1/policies', { signal }))).policies,
})

/** Where says which bundle is meant: its name, and the workspace that it is for, or none for all of the organization's. */
export interface Where {
  name: string
  workspace?: string | undefined
}

function at({ name, workspace }: Where) {
  return { path: { bundle: name }, ...(workspace ? { query: { workspace } } : {}) }
}

export function bundleQuery(where: Where) {
  return queryOptions({
    queryKey: ['policies', where.workspace ?? '', where.name],
    queryFn: ({ signal }): Promise<PolicyBundle> => answer(server.GET('/api/v1/policies/{bundle}', { params: at(where), signal })),
    // What is edited is what was read when the editor was opened.
    staleTime: Infinity,
    gcTime: 0,
  })
}

export function pushPolicy(where: Where, enforce: Policy['enforce'], files: PolicyFile[], message: string): Promise<Policy> {
  return answer(server.PUT('/api/v1/policies/{bundle}', { params: at(where), body: { files, enforce, ...(message === '' ? {} : { message }) } }))
}

export function removePolicy(where: Where): Promise<unknown> {
  return answer(server.DELETE('/api/v1/policies/{bundle}', { params: at(where) }))
}
