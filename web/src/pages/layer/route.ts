import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '@/app/root'
import { texts } from '@/lib/search'

export interface LayerSearch {
  tab?: string
}

// A layer's name has slashes, as its state's.
export const layerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/layers/$',
  validateSearch: (search: Record<string, unknown>): LayerSearch => texts(search, 'tab'),
  component: lazyRouteComponent(() => import('./LayerPage'), 'LayerPage'),
})
