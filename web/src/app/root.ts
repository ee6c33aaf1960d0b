import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext } from '@tanstack/react-router'
import { identityQuery } from '@/api/session'
import { isOtherDocument } from './documents'
import { NotFound, PageFailed } from './Failures'
import { Frame } from './Frame'

/** The route that all pages are below: the frame, or the sign-in page for nobody. */
export const rootRoute = createRootRouteWithContext<{ client: QueryClient }>()({
  beforeLoad: async ({ location, preload }) => {
    if (preload || !isOtherDocument(location.pathname)) return
    window.location.assign(location.publicHref)
    // The document that comes takes this one's place.
    await new Promise(() => undefined)
  },
  // What it finds out stands in the cache, where the frame reads it: also that it failed.
  loader: async ({ context: { client } }) => {
    await client.ensureQueryData(identityQuery).catch(() => undefined)
  },
  staleTime: Infinity,
  component: Frame,
  notFoundComponent: NotFound,
  errorComponent: PageFailed,
})
