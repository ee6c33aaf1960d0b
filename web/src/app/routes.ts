// The list of all pages. Each has its route in a file of its own, and its code is loaded when it is opened.
import { auditRoute } from '@/pages/audit/route'
import { editorRoute, filesRoute } from '@/pages/editor/route'
import { enclaveRoute, enclavesRoute } from '@/pages/enclaves/route'
import { homeRoute } from '@/pages/home/route'
import { layerRoute } from '@/pages/layer/route'
import { layersRoute } from '@/pages/layers/route'
import { historyRoute } from '@/pages/resource/route'
import { resourcesRoute } from '@/pages/resources/route'
import { runRoute } from '@/pages/run/route'
import { runsRoute } from '@/pages/runs/route'
import { settingsRoute } from '@/pages/settings/route'
import { signInRoute } from '@/pages/signin/route'
import { stateRoute } from '@/pages/state/route'
import { statesRoute } from '@/pages/states/route'
import { rootRoute } from './root'

export const routeTree = rootRoute.addChildren([
  homeRoute,
  statesRoute,
  stateRoute,
  runsRoute,
  runRoute,
  layersRoute,
  layerRoute,
  enclavesRoute,
  enclaveRoute,
  resourcesRoute,
  historyRoute,
  auditRoute,
  filesRoute,
  editorRoute,
  settingsRoute,
  signInRoute,
])
