import { useQuery } from '@tanstack/react-query'
import { runChangesQuery } from '@/api/runs'
import type { Run, RunChange, RunChanges } from '@/api/types'
import { differences, unchanged } from '@/lib/differences'
import { signOf } from '@/pages/editor/changes'
import { ChangeList, type Shown } from '@/ui/ChangeList'
import { Await, Empty } from '@/ui/states'
import { Section } from '@/ui/Page'

/** Changes is what the plan would do, object by object, with only what changes. */
export function Changes({ run }: { run: Run }) {
  const query = useQuery(runChangesQuery(run.id, run.pin?.digest))
  if (run.pin === undefined) return <Empty title="There is no plan yet.">{run.reason ?? 'What would change comes here when the plan is made.'}</Empty>
  return (
    <Await query={query} what="the changes">
      {(changes) => <Shows changes={changes} />}
    </Await>
  )
}

function Shows({ changes }: { changes: RunChanges }) {
  const objects = changes.changes.filter(({ actions }) => actions.join() !== 'no-op').map(shownOf)
  const outputs = changes.outputs
    .filter(({ actions }) => actions.join() !== 'no-op')
    .map((output): Shown => {
      const [sign, word, tone] = signOf(output.actions)
      return {
        key: `output.${output.name}`,
        sign,
        word,
        tone,
        address: `output.${output.name}`,
        note: output.sensitive ? 'sensitive' : undefined,
        attributes: () => differences({ value: output.before }, { value: output.after }),
      }
    })
  const drift = changes.drift.map(shownOf)
  return (
    <>
      {objects.length + outputs.length > 0 ? <ChangeList label="What the plan changes" changes={[...objects, ...outputs]} /> : <Empty title="No changes.">The configuration and what there is agree.</Empty>}
      {changes.cut ? <p className="muted">There are more changes than are kept; the log has all.</p> : null}
      {drift.length > 0 ? (
        <Section title={`Changed outside of runs (${drift.length.toLocaleString()})`}>
          <ChangeList label="What was changed outside" changes={drift} />
        </Section>
      ) : null}
    </>
  )
}

function shownOf(change: RunChange): Shown {
  const [sign, word, tone] = signOf(change.actions)
  const because = change.replace_because?.length ? `because of ${change.replace_because.join(', ')}` : undefined
  return {
    key: `${change.address}#${change.deposed ?? ''}`,
    sign,
    word,
    tone,
    address: change.address,
    note: because ?? (change.previous_address && change.previous_address !== change.address ? `from ${change.previous_address}` : change.import ? `imported ${change.import}` : undefined),
    attributes: () => differences(change.before, change.after, change.after_unknown),
    same: () => unchanged(change.before, change.after),
  }
}
