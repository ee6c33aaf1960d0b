import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '@/app/root'
import { texts } from '@/lib/search'

export interface LayersSearch {
  tab?: string
  /** Words of names. */
  q?: string
  state?: string
  repository?: string
  /** How a layer stands to what is there; see Watch. */
  watch?: string
}

export const layersRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/layers/',
  validateSearch: (search: Record<string, unknown>): LayersSearch => texts(search, 'tab', 'q', 'state', 'repository', 'watch'),
  component: lazyRouteComponent(() => import('./LayersPage'), 'LayersPage'),
})
