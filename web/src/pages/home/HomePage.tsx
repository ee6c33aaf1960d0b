import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useMemo } from 'react'
import { weekQuery, workspacesQuery } from '@/api/runs'
import { useMay } from '@/api/session'
import { statesQuery } from '@/api/states'
import type { Run } from '@/api/types'
import { count } from '@/lib/size'
import { countsOf, RunTable } from '@/pages/runs/RunTable'
import { Badge, type Tone } from '@/ui/Badge'
import { Page, Section } from '@/ui/Page'
import { Empty, Failed, Skeleton } from '@/ui/states'
import { Time, useNow } from '@/ui/Time'
import styles from './HomePage.module.css'
import { byDay, needsOf, type Need } from './needs'

const Chart = lazy(() => import('./Chart'))

/** HomePage says what needs somebody now, then how things went. */
export function HomePage() {
  const may = useMay()
  const now = useNow()
  const runs = useQuery({ ...weekQuery, enabled: may('run:read'), retry: false })
  const states = useQuery({ ...statesQuery, enabled: may('state:metadata') })
  const workspaces = useQuery({ ...workspacesQuery, enabled: may('workspace:read'), retry: false })
  const today = now.toDateString()
  const week = useMemo(() => byDay(runs.data ?? [], new Date(`${today} 23:59:59`)), [runs.data, today])
  const needs = needsOf(runs.data ?? [], states.data ?? [], now)
  const failed = (runs.data ?? []).filter(({ status }) => status === 'failed' || status === 'orphaned').length
  const last = runs.data?.[0]
  return (
    <Page title="Home" name="Home">
      <Section title="Needs you">
        {states.error ? <Failed error={states.error} again={() => void states.refetch()} /> : states.isLoading ? <Skeleton what="what needs you" rows={3} /> : needs.length > 0 ? <Needs needs={needs} /> : <Empty title="Nothing waits for a person." />}
      </Section>
      <dl className={styles.counts} aria-label="Counts">
        <Number name="States" value={states.data?.length} to="/states" />
        <Number name="Workspaces" value={workspaces.data?.length} to="/states" />
        <Number name="Runs, 7 days" value={runs.data?.length} to="/runs" />
        <div>
          <dt>Failed, 7 days</dt>
          <dd className={failed > 0 ? styles.bad : undefined}><Link to="/runs" search={{ status: 'failed' }}>{failed.toLocaleString()}</Link></dd>
        </div>
        <div>
          <dt>Last run</dt>
          <dd>{last ? <Link to="/runs/$id" params={{ id: last.id }}><Time at={last.created_at} /></Link> : '–'}</dd>
        </div>
      </dl>
      {may('run:read') ? (
        <>
          <Section title="Runs, 7 days">
            <Suspense fallback={<div className={styles.figure} />}>{runs.data ? <Chart {...week} /> : <div className={styles.figure} />}</Suspense>
          </Section>
          <Section title="Recent runs" actions={<Link to="/runs">All runs</Link>}>
            <RunTable filter={{}} limit={10} />
          </Section>
        </>
      ) : null}
    </Page>
  )
}

function Number({ name, value, to }: { name: string; value: number | undefined; to: '/states' | '/runs' }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value === undefined ? '–' : <Link to={to}>{value.toLocaleString()}</Link>}</dd>
    </div>
  )
}

const words: Record<Need['kind'], [Tone, string]> = {
  approval: ['person', 'plan waits for approval'],
  orphaned: ['loss', 'executor was lost while it applied'],
  held: ['person', 'kept back'],
  failed: ['loss', 'failed'],
  lock: ['person', 'locked, and no sign of life'],
}

function Needs({ needs }: { needs: Need[] }) {
  return (
    <>
      <ul className={styles.needs}>
        {needs.slice(0, 20).map((need) => (
          <li key={need.key}>
            <Badge tone={words[need.kind][0]}>{need.held ? count(need.held, 'write') : ''} {words[need.kind][1]}</Badge>
            <strong>{need.name}</strong>
            <span className="muted">
              {need.run ? detail(need.run) : null}
              {need.by ? `by ${need.by}, ` : ''}
              {need.at ? <Time at={need.at} /> : null}
            </span>
            {need.run ? (
              <Link to="/runs/$id" params={{ id: need.run.id }}>{need.kind === 'approval' ? 'Review' : 'Look'}<span className="visually-hidden"> at the run of {need.name}</span></Link>
            ) : (
              <Link to="/states/$" params={{ _splat: need.name }} search={need.kind === 'held' ? { tab: 'candidates' } : {}}>{need.kind === 'lock' ? 'Lock' : 'Look'}<span className="visually-hidden"> of {need.name}</span></Link>
            )}
          </li>
        ))}
      </ul>
      {needs.length > 20 ? <p className="muted">and {needs.length - 20} more</p> : null}
    </>
  )
}

function detail(run: Run): string {
  const counts = countsOf(run)
  return counts === '' ? '' : `${counts}, `
}
