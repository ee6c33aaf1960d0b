import type { RunChanges } from '@/api/types'
import { valueText } from '@/ui/AttributeChanges'
import { differencesOf, signOf } from './changes'
import styles from './Editor.module.css'

/** Changes is what a plan would change, resource by resource, with only what changes. */
export function Changes({ changes }: { changes: RunChanges }) {
  const shown = changes.changes.filter(({ actions }) => actions.join() !== 'no-op')
  const { add, change, destroy } = changes.counts
  return (
    <div className={styles.changes}>
      <p>
        <strong>{changes.counts.any ? `+${String(add)} ~${String(change)} -${String(destroy)}` : 'No changes.'}</strong>
      </p>
      {shown.map((one) => {
        const [sign, word, tone] = signOf(one.actions)
        return (
          <details key={one.address + (one.deposed ?? '')} open={shown.length <= 10}>
            <summary>
              <span aria-hidden="true" className={styles[tone]}>{sign}</span> <code>{one.address}</code> <span className={styles[tone]}>{word}</span>
            </summary>
            <dl className={styles.differences}>
              {differencesOf(one).map(({ name, before, after, unknown }) => (
                <div key={name}>
                  <dt><code>{name}</code></dt>
                  <dd>
                    {before === undefined ? null : <code className={styles.loss}>{valueText(before)}</code>}
                    {before !== undefined && (after !== undefined || unknown) ? ' → ' : null}
                    {unknown ? <span className="muted">known after apply</span> : after === undefined ? null : <code className={styles.done}>{valueText(after)}</code>}
                  </dd>
                </div>
              ))}
            </dl>
          </details>
        )
      })}
      {changes.outputs.filter(({ actions }) => actions.join() !== 'no-op').map(({ name, actions }) => {
        const [sign, word, tone] = signOf(actions)
        return (
          <p key={name}>
            <span aria-hidden="true" className={styles[tone]}>{sign}</span> <code>output.{name}</code> <span className={styles[tone]}>{word}</span>
          </p>
        )
      })}
      {changes.cut ? <p className="muted">There are more changes than are kept; the log has all.</p> : null}
    </div>
  )
}
