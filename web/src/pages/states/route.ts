import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '@/app/root'

export interface StatesSearch {
  /** Letters of the names that are wanted. */
  q?: string
  /** Only what is locked, held back or deleted. */
  only?: string
}

export const statesRoute = createRoute({
  getParentRoute: () => rootRoute,
  // As an index: else an address without a name would be that of a state whose name is empty.
  path: '/states/',
  validateSearch: (search: Record<string, unknown>): StatesSearch => ({
    ...(typeof search.q === 'string' && search.q !== '' ? { q: search.q } : {}),
    ...(typeof search.only === 'string' ? { only: search.only } : {}),
  }),
  component: lazyRouteComponent(() => import('./StatesPage'), 'StatesPage'),
})
