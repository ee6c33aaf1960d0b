import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '@/app/root'

export interface RunsSearch {
  workspace?: string
  kind?: string
  status?: string
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export const runsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs',
  validateSearch: (search: Record<string, unknown>): RunsSearch => {
    const { workspace, kind, status } = search
    return Object.fromEntries(
      Object.entries({ workspace: text(workspace), kind: text(kind), status: text(status) }).filter(([, value]) => value !== undefined),
    )
  },
  component: lazyRouteComponent(() => import('./RunsPage'), 'RunsPage'),
})
