import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { runChangesQuery } from '@/api/runs'
import type { Run } from '@/api/types'
import { useMarks } from '@/insight/Marks'
import { PlanChanges } from '@/ui/PlanChanges'
import { Await, Empty } from '@/ui/states'

const Beside = lazy(() => import('@/insight/Beside'))

/** Changes is what the plan would do, object by object, with only what changes, and what that means. */
export function Changes({ run }: { run: Run }) {
  const query = useQuery(runChangesQuery(run.id, run.pin?.digest))
  const beside = useMarks(run)
  if (run.pin === undefined) return <Empty title="There is no plan yet.">{run.reason ?? 'What would change comes here when the plan is made.'}</Empty>
  return (
    <>
      <Suspense>
        <Beside run={run} all={<Link to="/runs/$id" params={{ id: run.id }} search={{ tab: 'insight' }}>What it means</Link>} />
      </Suspense>
      <Await query={query} what="the changes">
        {(changes) => <PlanChanges changes={changes} beside={beside} />}
      </Await>
    </>
  )
}
