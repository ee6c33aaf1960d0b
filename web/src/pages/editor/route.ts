import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '@/app/root'
import { texts } from '@/lib/search'

export interface EditorSearch {
  /** The file that is shown, and its line. */
  file?: string
  line?: string
  /** The run that the console shows. */
  run?: string
}

/** Which workspace's files. */
export const filesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/files',
  component: lazyRouteComponent(() => import('./WorkspacesPage'), 'WorkspacesPage'),
})

export const editorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/editor/$',
  validateSearch: (search: Record<string, unknown>): EditorSearch => texts(search, 'file', 'line', 'run'),
  component: lazyRouteComponent(() => import('./EditorPage'), 'EditorPage'),
})
