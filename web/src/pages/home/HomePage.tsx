import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, type ReactNode } from 'react'
import { homeQuery } from '@/api/home'
import { useMay } from '@/api/session'
import type { Home, Run } from '@/api/types'
import { bytes, grouped } from '@/lib/size'
import { countsOf, RunRows } from '@/pages/runs/RunTable'
import { Badge, type Tone } from '@/ui/Badge'
import { Page, Section } from '@/ui/Page'
import { Await, Empty } from '@/ui/states'
import { Time, useNow } from '@/ui/Time'
import { useIdle } from '@/ui/useIdle'
import styles from './HomePage.module.css'
import { Kinds } from './Kinds'
import { beyond, latestOf, needsOf, weekOf, type Need } from './needs'

const Chart = lazy(() => import('@/ui/DayChart'))
/** weekday is how a day of the week is called below its picture. */
const weekday: Intl.DateTimeFormatOptions = { weekday: 'short' }
const Latest = lazy(() => import('./Latest'))

/** HomePage says what needs somebody now, then how things went. */
export function HomePage() {
  const home = useQuery(homeQuery)
  return (
    <Page title="Home" name="Home">
      <Await query={home} what="what needs you">{(said) => <Said home={said} />}</Await>
    </Page>
  )
}

function Said({ home }: { home: Home }) {
  const may = useMay()
  const now = useNow()
  // The page is there before its picture: what draws it is loaded when the browser has time.
  const idle = useIdle()
  const needs = needsOf(home, now)
  const week = useMemo(() => weekOf(home), [home])
  const { runs, workspaces } = home
  const latest = idle && may('run:read') ? latestOf(home) : undefined
  return (
    <>
      <Section title="Needs you">{needs.length > 0 ? <Needs needs={needs} beyond={beyond(home)} /> : <Empty title="Nothing waits for a person." />}</Section>
      <Counts home={home} />
      <div className={styles.beside}>
        {runs ? (
          <Section title="Runs, 7 days">
            {week ? <Suspense fallback={<div className={styles.figure} />}>{idle ? <Chart {...week} tone="loss" label={weekday} caption="Runs that ended" legend={['ended', 'failed']} say={(index) => `${String(week.all[index])} ended, ${String(week.front[index])} of them failed`} /> : <div className={styles.figure} />}</Suspense> : <p className="muted">Your key sees some workspaces only: their runs are below.</p>}
          </Section>
        ) : null}
        {workspaces && workspaces.kinds.length > 0 ? (
          <Section title="Kinds of files"><Kinds kinds={workspaces.kinds} more={workspaces.kinds_more} /></Section>
        ) : null}
      </div>
      {latest ? <Suspense><Latest run={latest} /></Suspense> : null}
      {may('run:read') && runs ? (
        <Section title="Recent runs" actions={<Link to="/runs">All runs</Link>}>
          <RunRows rows={runs.recent} filtered={false} />
        </Section>
      ) : null}
    </>
  )
}

/** Counts are numbers that lead to what they count. */
function Counts({ home: { runs, states, workspaces } }: { home: Home }) {
  const failed = runs?.days?.reduce((sum, { outcomes }) => sum + (outcomes.failed ?? 0) + (outcomes.orphaned ?? 0), 0)
  const ended = runs?.days?.reduce((sum, { outcomes }) => sum + Object.values(outcomes).reduce((day, one) => day + one, 0), 0)
  const last = runs?.recent[0]
  return (
    <dl className={styles.counts} aria-label="Counts">
      <Number name="States" value={numberOf(states)}>{(text) => <Link to="/states">{text}</Link>}</Number>
      <Number name="Workspaces" value={numberOf(workspaces)}>{(text) => <Link to="/files">{text}</Link>}</Number>
      <Number name="Files" value={workspaces ? grouped(workspaces.files) : undefined} unit={workspaces ? bytes(workspaces.bytes) : undefined}>{(text) => <Link to="/files">{text}</Link>}</Number>
      <Number name="Runs ended, 7 days" value={ended === undefined ? undefined : grouped(ended)}>{(text) => <Link to="/runs">{text}</Link>}</Number>
      <Number name="Failed, 7 days" value={failed === undefined ? undefined : grouped(failed)} bad={(failed ?? 0) > 0}>{(text) => <Link to="/runs" search={{ status: 'failed' }}>{text}</Link>}</Number>
      <div>
        <dt>Last run</dt>
        <dd>{last ? <Link to="/runs/$id" params={{ id: last.id }}><Time at={last.created_at} /></Link> : '–'}</dd>
      </div>
    </dl>
  )
}

function numberOf(counted: { count: number; more: boolean } | null): string | undefined {
  return counted ? `${grouped(counted.count)}${counted.more ? '+' : ''}` : undefined
}

function Number({ name, value, unit, bad = false, children }: { name: string; value: string | undefined; unit?: string | undefined; bad?: boolean; children: (text: string) => ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className={bad ? styles.bad : undefined}>
        {value === undefined ? '–' : children(value)}
        {unit ? <span className={styles.unit}> {unit}</span> : null}
      </dd>
    </div>
  )
}

const words: Record<Need['kind'], [Tone, string]> = {
  approval: ['person', 'plan waits for approval'],
  orphaned: ['loss', 'executor was lost while it applied'],
  held: ['person', 'writes were kept back'],
  drift: ['person', 'changed outside of runs'],
  failed: ['loss', 'failed'],
  lock: ['person', 'locked, and no sign of life'],
}

/** How many are listed; what is most urgent stands first. */
const listed = 20

function Needs({ needs, beyond: { count, more } }: { needs: Need[]; beyond: ReturnType<typeof beyond> }) {
  const others = Math.max(needs.length - listed, 0) + count
  return (
    <>
      <ul className={styles.needs}>
        {needs.slice(0, listed).map((need) => (
          <li key={need.key}>
            <Badge tone={words[need.kind][0]}>{words[need.kind][1]}</Badge>
            <strong><Link to="/states/$" params={{ _splat: need.name }} className={styles.name}>{need.name}</Link></strong>
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
      {others > 0 || more ? <p className="muted">and {more ? 'at least ' : ''}{grouped(Math.max(others, 1))} more: <Link to="/runs" search={{ status: 'awaiting_approval' }}>plans that wait</Link>, <Link to="/runs" search={{ status: 'failed' }}>failed runs</Link></p> : null}
    </>
  )
}

function detail(run: Run): string {
  const counts = countsOf(run)
  return counts === '' ? '' : `${counts}, `
}
