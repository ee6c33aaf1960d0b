import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '@/app/root'
import { texts } from '@/lib/search'

export interface ResourcesSearch {
  tab?: string
  q?: string
  type?: string
  provider?: string
  state?: string
  /** Of the search: 'state' or 'upload'. */
  source?: string
  /** Of coverage: the status that is looked into. */
  status?: string
}

export const resourcesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/resources',
  validateSearch: (search: Record<string, unknown>): ResourcesSearch => texts(search, 'tab', 'q', 'type', 'provider', 'state', 'source', 'status'),
  component: lazyRouteComponent(() => import('./ResourcesPage'), 'ResourcesPage'),
})
