import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { RequestFailure } from '@/api/failure'
import { insightQuery } from '@/api/runs'
import type { Insight, Run } from '@/api/types'
import { Await, Empty, Failed } from '@/ui/states'
import styles from './insight.module.css'

/** Meaning shows what a run's plan means, or what stands in its place: nothing can be said yet, not any more, or not now. */
export function Meaning({ run, rows = 3, children }: { run: Run; rows?: number; children: (insight: Insight) => ReactNode }) {
  const query = useQuery(insightQuery(run))
  if (run.pin === undefined) return <Empty title="There is no plan yet.">{run.reason ?? 'What it means comes here when it is made.'}</Empty>
  if (query.data === undefined && query.error) return <Unknown error={query.error} again={() => void query.refetch()} />
  return <Await query={query} what="what the plan means" rows={rows}>{children}</Await>
}

/** Unknown says why nothing is known of a plan, and what to do instead. */
function Unknown({ error, again }: { error: unknown; again: () => void }) {
  if (error instanceof RequestFailure && error.code === 'run_file_not_found') {
    return <Empty title="The plan is not there to be looked at.">It is kept for a while after the end of its run. Its changes and its log may be there still; run it again to see what it would mean now.</Empty>
  }
  return (
    <div className={styles.unknown}>
      <Failed error={error} again={again} />
      <p>Until then neither the rules, nor what can’t be undone, nor the cost of this plan is known: read its changes before you approve it.</p>
    </div>
  )
}
