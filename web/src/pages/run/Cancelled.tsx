import { isUnfinished } from '@/api/runs'
import type { Run } from '@/api/types'
import { actorOf } from '@/pages/runs/RunTable'
import { Badge } from '@/ui/Badge'
import { Time } from '@/ui/Time'
import styles from './RunPage.module.css'

/** Cancelled says who asked a run to stop, and how far that is. */
export function Cancelled({ run }: { run: Run }) {
  const { cancel } = run
  if (!cancel) return null
  const flying = run.in_flight?.length ?? 0
  return (
    <p className={styles.stale} role="status">
      <Badge tone="person">{cancel.level === 'soft' ? 'cancel' : 'kill'}</Badge> asked for by {actorOf(cancel.by)} <Time at={cancel.at} />.{' '}
      {isUnfinished(run.status) ? progress(cancel.level, flying) : 'The run has ended.'}
      {isUnfinished(run.status) && cancel.level === 'soft' && cancel.until ? <> Killed if it does not end, from <Time at={cancel.until} /> on.</> : null}
    </p>
  )
}

function progress(level: 'soft' | 'hard', flying: number): string {
  if (level === 'hard') return 'The tool is being killed.'
  return flying > 0 ? `The tool finishes what is in flight, ${String(flying)} of it, and stores the state.` : 'The tool is stopping; nothing is in flight.'
}
