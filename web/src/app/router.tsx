import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { Skeleton } from '@/ui/states'
import { routeTree } from './routes'

/** newRouter makes the router of the page, below the address at which the server has it. */
export function newRouter(client: QueryClient) {
  return createRouter({
    routeTree,
    basepath: '/ui',
    context: { client },
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultPendingComponent: () => <Skeleton what="the page" />,
    scrollRestoration: true,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof newRouter>
  }
}
