import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '@/app/root'
import { texts } from '@/lib/search'

export interface AuditSearch {
  action?: string
  state?: string
  key?: string
  since?: string
  until?: string
  /** 'refused' for refusals only. */
  only?: string
}

export const auditRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/audit',
  validateSearch: (search: Record<string, unknown>): AuditSearch => texts(search, 'action', 'state', 'key', 'since', 'until', 'only'),
  component: lazyRouteComponent(() => import('./AuditPage'), 'AuditPage'),
})
