import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '@/app/root'
import { texts } from '@/lib/search'

export interface StateSearch {
  tab?: string
  /** The version that is looked at, and the one that it is compared with. */
  version?: number
  against?: number
  /** Words of the addresses and IDs of resources that are wanted. */
  filter?: string
  /** The resource that is opened. */
  resource?: string
}

// A state's name has slashes, so that it takes the rest of the address; the rest stands in the query.
export const stateRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/states/$',
  validateSearch: (search: Record<string, unknown>): StateSearch => ({
    ...(typeof search.tab === 'string' ? { tab: search.tab } : {}),
    ...(Number.isSafeInteger(search.version) ? { version: search.version as number } : {}),
    ...texts(search, 'filter'),
    ...(typeof search.resource === 'string' ? { resource: search.resource } : {}),
    ...(Number.isSafeInteger(search.against) ? { against: search.against as number } : {}),
  }),
  component: lazyRouteComponent(() => import('./StatePage'), 'StatePage'),
})
