import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { workspaceQuery } from '@/api/runs'
import { useMay } from '@/api/session'
import { stateQuery } from '@/api/states'
import type { State } from '@/api/types'
import { bytes, count } from '@/lib/size'
import { commitOf } from '@/pages/layer/chain'
import { RunTable } from '@/pages/runs/RunTable'
import { Page } from '@/ui/Page'
import { Await, Empty, Skeleton } from '@/ui/states'
import { Tabs, type Tab } from '@/ui/Tabs'
import { Time } from '@/ui/Time'
import { CandidateList } from './Candidates'
import { LockPanel } from './LockPanel'
import { OutputList } from './Outputs'
import { ResourceTable } from './ResourceTable'
import { stateRoute } from './route'
import { StateActions } from './StateActions'
import { UseIt } from './UseIt'
import { Versions } from './Versions'

const Graph = lazy(() => import('./Graph'))

/** StatePage is one state: its history, what it holds, what was kept back from it, and how to use it. */
export function StatePage() {
  const name = stateRoute.useParams()._splat ?? ''
  const query = useQuery(stateQuery(name))
  return (
    <Page title={name} name={name} line={query.data ? line(query.data) : 'A state'} actions={<><Beside name={name} />{query.data ? <StateActions state={query.data} /> : null}</>}>
      <Await query={query} what="the state">
        {(state) => <Known name={name} state={state} />}
      </Await>
    </Page>
  )
}

/** Beside leads to the files of the state's workspace, where it has one, and to the layer that brought them. */
function Beside({ name }: { name: string }) {
  const may = useMay()
  const workspace = useQuery({ ...workspaceQuery(name), enabled: may('workspace:read'), retry: false }).data
  if (!workspace) return null
  return (
    <>
      {commitOf(workspace.snapshot?.message) ? <Link to="/layers/$" params={{ _splat: name }}>Layer</Link> : null}
      <Link to="/editor/$" params={{ _splat: name }} preload={false}>Files</Link>
    </>
  )
}

function line(state: State) {
  const { version } = state
  if (!version) return 'never written'
  return (
    <>
      version {version.version}, serial {version.serial}, {version.resources === null ? '' : `${count(version.resources, 'resource')}, `}
      {bytes(version.size)}, changed <Time at={version.created_at} />
      {state.deleted_at ? <>, deleted <Time at={state.deleted_at} /></> : null}
    </>
  )
}

function Known({ name, state }: { name: string; state: State | null }) {
  const { tab = '' } = stateRoute.useSearch()
  const navigate = useNavigate()
  const may = useMay()
  const newest = state?.version?.version ?? 0
  const written = newest > 0
  const never = (
    <Empty title="This state was never written.">
      The tab <em>Use it</em> has what a configuration needs to write it. <Link to="/states">All states</Link>
    </Empty>
  )
  const tabs: Tab[] = [
    { id: 'versions', label: 'Versions', content: () => (written ? <Versions name={name} newest={newest} /> : never) },
    ...(written && may('state:read')
      ? [
          { id: 'resources', label: 'Resources', content: () => <ResourceTable name={name} /> },
          { id: 'graph', label: 'Graph', content: () => <Suspense fallback={<Skeleton what="the graph" />}><Graph name={name} /></Suspense> },
        ]
      : []),
    ...(written && may('state:outputs') ? [{ id: 'outputs', label: 'Outputs', content: () => <OutputList name={name} /> }] : []),
    ...(may('state:metadata') ? [{ id: 'candidates', label: `Kept back${state?.open_candidates ? ` (${String(state.open_candidates)})` : ''}`, content: () => <CandidateList name={name} newest={newest} /> }] : []),
    ...(may('run:read') ? [{ id: 'runs', label: 'Runs', content: () => <RunTable filter={{ workspace: name }} /> }] : []),
    { id: 'use', label: 'Use it', content: () => <UseIt name={name} /> },
  ]
  const shown = tabs.some(({ id }) => id === tab) ? tab : state?.open_candidates ? 'candidates' : 'versions'
  return (
    <>
      {state?.lock ? <LockPanel name={name} lock={state.lock} /> : null}
      <Tabs label="Parts of the state" tabs={tabs} value={shown} onChange={(id) => void navigate({ to: '/states/$', params: { _splat: name }, search: { tab: id } })} />
    </>
  )
}
