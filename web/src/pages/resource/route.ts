import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '@/app/root'
import { texts } from '@/lib/search'

export interface HistorySearch {
  state?: string
  address?: string
}

// Addresses have brackets, quotes and slashes, and states slashes: both stand in the query.
export const historyRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/resources/history',
  validateSearch: (search: Record<string, unknown>): HistorySearch => texts(search, 'state', 'address'),
  component: lazyRouteComponent(() => import('./HistoryPage'), 'HistoryPage'),
})
