import type { ReactNode } from 'react'
import type { RunChange, RunChanges } from '@/api/types'
import { signOf } from '@/lib/actions'
import { differences, unchanged } from '@/lib/differences'
import { ChangeList, type Shown } from './ChangeList'
import { Section } from './Page'
import { Empty } from './states'

interface Props {
  changes: RunChanges
  /** It stands in a part of the page that scrolls by itself. */
  inside?: boolean
  /** What else there is to say of the object at an address. */
  beside?: ((address: string) => ReactNode) | undefined
}

/** PlanChanges is what a plan would do, object by object, with only what changes. */
export function PlanChanges({ changes, inside = false, beside }: Props) {
  const objects = changes.changes.filter(({ actions }) => actions.join() !== 'no-op').map((change): Shown => ({ ...shownOf(change), beside: beside?.(change.address) }))
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
        beside: beside?.(`output.${output.name}`),
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
