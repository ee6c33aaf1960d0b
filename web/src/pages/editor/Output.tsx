import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { runChangesQuery } from '@/api/runs'
import type { Run } from '@/api/types'
import { Badge } from '@/ui/Badge'
import { Counts } from '@/ui/Counts'
import { PlanChanges } from '@/ui/PlanChanges'
import styles from './Editor.module.css'

const Beside = lazy(() => import('@/insight/Beside'))

/** Output is what came out of a run, beside its log: what the tool found wrong, and what would change or has changed. */
export function Output({ run, onPlace }: { run: Run; onPlace: (file: string, line: number) => void }) {
  const changes = useQuery(runChangesQuery(run.id, run.pin?.digest))
  const found = run.diagnostics ?? []
  return (
    <div
      className={styles.output}
      role="region"
      aria-label="What came out"
      // What scrolls must be reached by keys.
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
    >
      {found.length > 0 ? (
        <ul aria-label="Errors and warnings" className={styles.found}>
          {found.map((one, index) => (
            <li key={index}>
              <Badge tone={one.severity === 'error' ? 'loss' : 'person'}>{one.severity}</Badge> {one.summary}{' '}
              {one.file !== undefined && one.line !== undefined ? (
                <button type="button" className={styles.place} onClick={() => { onPlace(one.file!, one.line!) }}>
                  {one.file} line {one.line}
                </button>
              ) : null}
              {one.detail ? <p className="muted">{one.detail}</p> : null}
            </li>
          ))}
        </ul>
      ) : null}
      {changes.data ? <><Counts counts={changes.data.counts} /><Suspense><Beside run={run} all={<Link to="/runs/$id" params={{ id: run.id }} search={{ tab: 'insight' }} reloadDocument>What it means</Link>} /></Suspense><PlanChanges changes={changes.data} inside /></> : null}
      {found.length === 0 && !changes.data ? <p className="muted">What would change comes here when the plan is made.</p> : null}
    </div>
  )
}
