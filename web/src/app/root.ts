import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext } from '@tanstack/react-router'
import { NotFound, PageFailed } from './Failures'
import { Frame } from './Frame'

/** The route that all pages are below: the frame, or the sign-in page for nobody. */
export const rootRoute = createRootRouteWithContext<{ client: QueryClient }>()({
  component: Frame,
  notFoundComponent: NotFound,
  errorComponent: PageFailed,
})
