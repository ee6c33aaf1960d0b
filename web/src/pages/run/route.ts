import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '@/app/root'

export interface RunSearch {
  tab?: string
  stream?: 'plan' | 'apply'
  /** The line of the log that is pointed at, from 1. */
  line?: number
  /** The severity whose findings are wanted. */
  severity?: string
  /** How differences of files are laid out. */
  view?: 'split' | 'unified'
}

export const runRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs/$id',
  validateSearch: (search: Record<string, unknown>): RunSearch => ({
    ...(typeof search.tab === 'string' ? { tab: search.tab } : {}),
    ...(search.stream === 'plan' || search.stream === 'apply' ? { stream: search.stream } : {}),
    ...(search.view === 'split' || search.view === 'unified' ? { view: search.view } : {}),
    ...(typeof search.severity === 'string' ? { severity: search.severity } : {}),
    ...(Number.isSafeInteger(search.line) ? { line: search.line as number } : {}),
  }),
  component: lazyRouteComponent(() => import('./RunPage'), 'RunPage'),
})
