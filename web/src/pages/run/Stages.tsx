import type { Run } from '@/api/types'
import { isUnfinished } from '@/api/runs'
import { span } from '@/lib/time'
import { useNow } from '@/ui/Time'
import styles from './RunPage.module.css'

/** Stages is how far the run is, with how long each stage took. */
export function Stages({ run }: { run: Run }) {
  const now = useNow()
  const done = (run.phases ?? []).filter(({ attempt }) => attempt === run.attempt)
  const waiting = run.status === 'awaiting_approval' && run.planned_at ? (now.getTime() - new Date(run.planned_at).getTime()) / 1000 : undefined
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
          <span aria-hidden="true">●</span> waiting for approval <span className="muted">{span(Math.max(waiting, 0))}</span>
        </li>
      )}
      {goes && waiting === undefined && run.phase !== '' && !done.some(({ phase }) => phase === run.phase) ? (
        <li className={styles.stageGoes}>
          <span aria-hidden="true">◐</span> {run.phase}
        </li>
      ) : null}
    </ol>
  )
}
