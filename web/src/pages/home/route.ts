import { createRoute } from '@tanstack/react-router'
import { homeQuery } from '@/api/home'
import { identityQuery } from '@/api/session'
import { rootRoute } from '@/app/root'
import { HomePage } from './HomePage'

/** The first page comes with the program, not behind it, and its data are asked for before it is drawn. */
export const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  loader: async ({ context: { client } }) => {
    const who = await client.ensureQueryData(identityQuery).catch(() => null)
    if (who) await client.ensureQueryData(homeQuery).catch(() => undefined)
  },
  component: HomePage,
})
