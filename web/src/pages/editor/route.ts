import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '@/app/root'
import { list, texts } from '@/lib/search'

export interface EditorSearch {
  /** The file that is shown, and its line. */
  file?: string
  line?: string | undefined
  /** The run that the console shows. */
  run?: string
  /** The folders that are closed. */
  closed?: string[] | undefined
  /** That a draft of what comes from a repository is edited. */
  draft?: boolean | undefined
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
  validateSearch: (search: Record<string, unknown>): EditorSearch => ({ ...texts(search, 'file', 'line', 'run'), ...list(search, 'closed'), ...(search.draft === true ? { draft: true } : {}) }),
  component: lazyRouteComponent(() => import('./EditorPage'), 'EditorPage'),
})
