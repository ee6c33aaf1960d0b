import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '@/app/root'
import { texts } from '@/lib/search'

export interface SettingsSearch {
  tab?: string
}

export const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  validateSearch: (search: Record<string, unknown>): SettingsSearch => texts(search, 'tab'),
  component: lazyRouteComponent(() => import('./SettingsPage'), 'SettingsPage'),
})
