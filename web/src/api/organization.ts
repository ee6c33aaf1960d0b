import { queryOptions } from '@tanstack/react-query'
import { get } from './call'
import type { Identity } from './types'

export interface Share {
  used: number
  limit: number
}

/** Standing is what whoami says beyond who it is: limits in requests a minute, what is stored, what there is of runs. */
export interface Standing extends Identity {
  limits: {
    rate_limit: number | null
    state_rate_limit: number | null
    rate_left?: number
    state_rate_left?: number
    state_rate_saved?: number
  }
  quota?: { used: number; limit: number | null; states: number; uploads: number }
  runs?: { files: Share; configurations: Share; recorded: Share; waiting: Share; working: Share }
}

export const standingQuery = queryOptions({
  queryKey: ['standing'],
  queryFn: ({ signal }) => get<Standing>('/api/v1/whoami', {}, signal),
})
