import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '@/app/root'
import { texts } from '@/lib/search'

export interface EnclaveSearch {
  /** The reconcile whose runs are shown. */
  reconcile?: string
}

export const enclavesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/enclaves/',
  component: lazyRouteComponent(() => import('./EnclavesPage'), 'EnclavesPage'),
})

export const enclaveRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/enclaves/$enclave',
  validateSearch: (search: Record<string, unknown>): EnclaveSearch => texts(search, 'reconcile'),
  component: lazyRouteComponent(() => import('./EnclavePage'), 'EnclavePage'),
})
