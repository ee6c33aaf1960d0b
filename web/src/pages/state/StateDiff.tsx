import type { Diff, OutputChange, ResourceChange } from '@/api/types'
import type { Difference } from '@/lib/differences'
import { ChangeList, type Shown } from '@/ui/ChangeList'
import { Empty } from '@/ui/states'

const signs = {
  added: ['+', 'new', 'done'],
  changed: ['~', 'changed', 'person'],
  removed: ['-', 'gone', 'loss'],
  moved: ['→', 'moved', 'still'],
} as const

/** StateDiff shows how one version of a state became another. */
export function StateDiff({ diff }: { diff: Diff }) {
  const changes = [...diff.resources.map(resource), ...diff.outputs.map(output)]
  const { added, changed, removed, moved } = diff.summary
  return (
    <>
      <p>
        <strong>{`+${String(added)} ~${String(changed)} -${String(removed)}`}</strong>
        <span className="muted">
          {moved > 0 ? `, ${String(moved)} moved` : ''}
          {diff.masked ? ' · sensitive values are hidden, also where they differ' : ''}
        </span>
      </p>
      {changes.length > 0 ? <ChangeList label="What differs" changes={changes} /> : <Empty title="Resources and outputs are the same." />}
    </>
  )
}

function resource(change: ResourceChange): Shown {
  const [sign, word, tone] = signs[change.action]
  const fields = (change.fields ?? []).map(({ field, ...rest }): Difference => ({ path: [field], ...rest }))
  return {
    key: `${change.address}#${change.deposed ?? ''}`,
    sign,
    word,
    tone,
    address: change.address,
    note: change.previous ? `from ${change.previous.address}` : change.deposed ? `deposed ${change.deposed}` : undefined,
    attributes: () => [...fields, ...(change.attributes ?? [])],
  }
}

function output(change: OutputChange): Shown {
  const [sign, word, tone] = signs[change.action]
  const hidden = change.before?.sensitive ?? change.after?.sensitive ?? false
  const whole: Difference = {
    path: ['value'],
    ...(change.before ? { before: change.before.value } : {}),
    ...(change.after ? { after: change.after.value } : {}),
    ...(hidden ? { sensitive: true } : {}),
  }
  return { key: `output.${change.name}`, sign, word, tone, address: `output.${change.name}`, attributes: () => (change.changes?.length ? change.changes : [whole]) }
}
