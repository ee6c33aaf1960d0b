import { queryOptions } from '@tanstack/react-query'
import { answer, server } from './call'
import type { OrganizationSettings, SettingValue } from './types'

/** standingQuery is what whoami says beyond who it is: limits in requests a minute, what is stored, what there is of runs. */
export const standingQuery = queryOptions({
  queryKey: ['standing'],
  queryFn: ({ signal }) => answer(server.GET('/api/v1/whoami', { signal })),
})

/** settingsQuery is what auth.cfg says of the organization, but for credentials and limits. */
export const settingsQuery = queryOptions({
  queryKey: ['organization'],
  queryFn: ({ signal }) => answer(server.GET('/api/v1/organization', { signal })),
})

/** configure changes settings on top of a version of them; where others have changed them since, it is refused as settings_changed. */
export function configure(version: string, settings: SettingValue[]): Promise<OrganizationSettings> {
  return answer(server.PATCH('/api/v1/organization', { body: { version, settings } }))
}
