import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '@/app/root'
import { list, type Folders } from '@/lib/search'

/** Besides, which folders somebody has opened and closed. */
export interface StatesSearch extends Folders {
  /** Letters of the names that are wanted. */
  q?: string
  /** Only what is locked, held back or deleted. */
  only?: string
}

export const statesRoute = createRoute({
  getParentRoute: () => rootRoute,
  // With its slash: without it, the address would be that of a state without a name.
  path: '/states/',
  validateSearch: (search: Record<string, unknown>): StatesSearch => ({
    ...(typeof search.q === 'string' && search.q !== '' ? { q: search.q } : {}),
    ...(typeof search.only === 'string' ? { only: search.only } : {}),
    ...list(search, 'open', 'closed'),
  }),
  component: lazyRouteComponent(() => import('./StatesPage'), 'StatesPage'),
})
