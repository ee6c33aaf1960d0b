import type { Run } from '@/api/types'
import { isUnfinished } from '@/api/runs'
import { span } from '@/lib/time'
import { useNow } from '@/ui/Time'
import styles from './RunPage.module.css'

/** secondsSince is never below 0: the server's clock may be ahead of the browser's. */
function secondsSince(at: string, now: Date): number {
  return Math.max((now.getTime() - new Date(at).getTime()) / 1000, 0)
}

const between: Partial<Record<Run['status'], string>> = {
  pending: 'waiting to begin',
  confirmed: 'waiting to be applied',
  retrying: 'waiting to be tried again',
  orphaned: 'executor lost',
}

/** nowAt is what a run does now: its phase, or what it waits for between two. */
function nowAt({ status, phase }: Run, ended: boolean): string {
  return between[status] ?? (phase === '' || ended ? status : phase)
}

/** Stages is how far the run is, with how long each stage took. */
export function Stages({ run }: { run: Run }) {
  const now = useNow()
  const done = (run.phases ?? []).filter(({ attempt }) => attempt === run.attempt)
  const waiting = run.status === 'awaiting_approval' && run.planned_at ? secondsSince(run.planned_at, now) : undefined
  const goes = isUnfinished(run.status)
  return (
    <ol className={styles.stages} aria-label="Stages">
      {done.map(({ phase, seconds, outcome }, index) => (
        <li key={`${phase}${String(index)}`} className={outcome === 'succeeded' ? styles.stageDone : styles.stageFailed}>
          <span aria-hidden="true">{outcome === 'succeeded' ? '✓' : '✕'}</span> {phase} <span className="muted">{seconds < 1 ? `${String(Math.round(seconds * 1000))} ms` : span(seconds)}</span>
          {outcome === 'succeeded' ? null : <span> {outcome}</span>}
        </li>
      ))}
      {waiting === undefined ? null : (
        <li className={styles.stageWaits}>
          <span aria-hidden="true">●</span> waiting for approval <span className="muted">{span(waiting)}</span>
        </li>
      )}
      {goes && waiting === undefined ? (
        <li className={styles.stageGoes}>
          <span aria-hidden="true">◐</span> {nowAt(run, done.some(({ phase }) => phase === run.phase))}{' '}
          {run.moved_at ? <span className="muted">{span(secondsSince(run.moved_at, now))}</span> : null}
        </li>
      ) : null}
    </ol>
  )
}
