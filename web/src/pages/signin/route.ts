import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '@/app/root'

/** Where an issuer's sign-in ends that came to nothing. Whoever is signed in there goes on to where they were going. */
export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  component: lazyRouteComponent(() => import('./GoOn'), 'GoOn'),
})
