import { useQuery } from '@tanstack/react-query'
import { runChangesQuery } from '@/api/runs'
import type { Run } from '@/api/types'
import { PlanChanges } from '@/ui/PlanChanges'
import { Await, Empty } from '@/ui/states'

/** Changes is what the plan would do, object by object, with only what changes. */
export function Changes({ run }: { run: Run }) {
  const query = useQuery(runChangesQuery(run.id, run.pin?.digest))
  if (run.pin === undefined) return <Empty title="There is no plan yet.">{run.reason ?? 'What would change comes here when the plan is made.'}</Empty>
  return (
    <Await query={query} what="the changes">
      {(changes) => <PlanChanges changes={changes} />}
    </Await>
  )
}
