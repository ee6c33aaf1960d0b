import type { RunChange, RunChanges } from '@/api/types'
import { signOf } from '@/lib/actions'
import { differences, unchanged } from '@/lib/differences'
import { ChangeList, type Shown } from './ChangeList'
import { Section } from './Page'
import { Empty } from './states'

/** PlanChanges is what a plan would do, object by object, with only what changes. inside says that it stands in a part of the page that scrolls by itself. */
export function PlanChanges({ changes, inside = false }: { changes: RunChanges; inside?: boolean }) {
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
      {objects.length + outputs.length > 0 ? <ChangeList label="What the plan changes" changes={[...objects, ...outputs]} inside={inside} /> : <Empty title="No changes.">The configuration and what there is agree.</Empty>}
      {changes.cut ? <p className="muted">There are more changes than are kept; the log has all.</p> : null}
      {drift.length > 0 ? (
        <Section title={`Changed outside of runs (${drift.length.toLocaleString()})`}>
          <ChangeList label="What was changed outside" changes={drift} inside={inside} />
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
