import type { Insight } from '@/api/types'
import { count } from '@/lib/size'
import { Price } from './Costs'
import { countsBySeverity, sorted } from './findings'
import styles from './insight.module.css'
import { Severity } from './Severity'

/** Line is what a plan means in one line: how many findings of each severity, what can't be undone, and what it costs. */
export function Line({ insight }: { insight: Insight }) {
  const counts = countsBySeverity(sorted(insight).open)
  const { facts: { irreversible }, broken, costs } = insight
  return (
    <ul className={styles.line} aria-label="What the plan means">
      {counts.map(([severity, number]) => <li key={severity}><Severity severity={severity} count={number} /></li>)}
      {counts.length === 0 ? <li className="muted">{insight.unread ? 'no findings in what was looked at' : 'no findings'}</li> : null}
      {irreversible.length > 0 ? <li className={styles.high}><span aria-hidden="true">⚠</span> {irreversible.length.toLocaleString()} can’t be undone</li> : null}
      {broken.length > 0 ? <li className={styles.high}><span aria-hidden="true">✕</span> {count(broken.length, 'rule')} could not be asked</li> : null}
      {costs.estimated.length > 0 ? <li><Price costs={costs} /></li> : null}
      {costs.unpriced.length > 0 ? <li className="muted">{costs.unpriced.length.toLocaleString()} without a known price</li> : null}
    </ul>
  )
}
