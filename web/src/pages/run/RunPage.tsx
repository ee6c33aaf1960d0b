import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { runQuery } from '@/api/runs'
import { useMay } from '@/api/session'
import type { Run } from '@/api/types'
import { RunBadge } from '@/ui/RunBadge'
import { actorOf, countsOf } from '@/pages/runs/RunTable'
import { Page } from '@/ui/Page'
import { Await, Skeleton } from '@/ui/states'
import { Tabs } from '@/ui/Tabs'
import { Time } from '@/ui/Time'
import { About, Decisions, Events } from './About'
import { Actions } from './Actions'
import { Cancelled } from './Cancelled'
import { Changes } from './Changes'
import { Diagnostics } from './Diagnostics'
import { LogView } from './LogView'
import { runRoute } from './route'
import { Stages } from './Stages'
import styles from './RunPage.module.css'

const Files = lazy(() => import('./Files'))
const Insight = lazy(() => import('@/insight/Insight'))

/** RunPage is one run: how far it is, what it changes, what it printed, and what can be done with it. */
export function RunPage() {
  const { id } = runRoute.useParams()
  const query = useQuery(runQuery(id))
  return <Await query={query} what="the run">{(run) => <Known run={run} />}</Await>
}

function Known({ run }: { run: Run }) {
  const { tab, stream, severity } = runRoute.useSearch()
  const may = useMay()
  const navigate = useNavigate({ from: runRoute.fullPath })
  const applied = run.applied_at !== undefined || run.status === 'applying' || (run.phases ?? []).some(({ phase }) => phase === 'apply')
  const log = stream ?? (applied ? 'apply' : 'plan')
  const shown = tab ?? (run.pin ? 'changes' : 'log')
  return (
    <Page
      name={`${run.workspace} ${run.kind}`}
      title={
        <>
          <Link to="/states/$" params={{ _splat: run.workspace }}>{run.workspace}</Link> {run.kind}
        </>
      }
      line={
        <span className={styles.line0}>
          <RunBadge run={run} /> {countsOf(run)} · by {actorOf(run.trigger)} <Time at={run.created_at} />
          <Pinned run={run} />
          {run.reason ? ` · ${run.reason}` : ''}
        </span>
      }
      actions={<Actions run={run} />}
    >
      <Stages run={run} />
      {run.stale ? (
        <p className={styles.stale}>
          This plan is out of date since <Time at={run.stale.since} />, because of {run.stale.because}
          {run.stale.what ? ` (${run.stale.what})` : ''}
          {run.stale.version ? `, version ${String(run.stale.version)}` : ''}
          {run.stale.by ? `, by ${actorOf(run.stale.by)}` : ''}. It can’t be applied; run it again.
        </p>
      ) : null}
      <Cancelled run={run} />
      <Decisions run={run} />
      <Diagnostics run={run} />
      <Tabs
        label="Parts of the run"
        value={shown}
        onChange={(id) => void navigate({ search: { tab: id }, replace: true, resetScroll: false })}
        tabs={[
          { id: 'changes', label: `Changes ${countsOf(run)}`, content: () => <Changes run={run} /> },
          {
            id: 'insight',
            label: 'Insight',
            content: () => (
              <Suspense fallback={<Skeleton what="what the plan means" />}>
                <Insight run={run} severity={severity} onSeverity={(chosen) => void navigate({ search: { tab: 'insight', ...(chosen ? { severity: chosen } : {}) }, replace: true, resetScroll: false })} />
              </Suspense>
            ),
          },
          {
            id: 'log',
            label: 'Log',
            content: () => (
              <LogView key={log} run={run.id} stream={log} streams={applied ? ['plan', 'apply'] : ['plan']} onStream={(chosen) => void navigate({ search: { tab: 'log', stream: chosen }, replace: true, resetScroll: false })} />
            ),
          },
          ...(may('workspace:read') ? [{ id: 'files', label: 'Files', content: () => <Suspense fallback={<Skeleton what="the differences of the files" />}><Files run={run} /></Suspense> }] : []),
          { id: 'about', label: 'Made of', content: () => <About run={run} /> },
          { id: 'events', label: 'Events', content: () => <Events run={run} /> },
        ]}
      />
    </Page>
  )
}

/** Pinned is the version of the state that the plan was made on, and whether it is still that one. */
function Pinned({ run: { workspace, pin, stale, status } }: { run: Run }) {
  if (!pin) return null
  const { version } = pin.state
  const holds = stale ? ' (out of date)' : status === 'awaiting_approval' ? ' (current)' : ''
  return (
    <span>
      {'· on '}
      {version > 0 ? <Link to="/states/$" params={{ _splat: workspace }} search={{ version }}>version {version}</Link> : 'no state'}
      {holds}
    </span>
  )
}
