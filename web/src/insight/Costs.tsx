import type { InsightCost, InsightCosts } from '@/api/types'
import { count } from '@/lib/size'
import { Some } from '@/ui/Some'
import { Table, type Column } from '@/ui/Table'
import styles from './insight.module.css'

/** Price is what a plan's resources cost in all, and by how much the plan changes that. */
export function Price({ costs: { totalMonthly, deltaMonthly } }: { costs: InsightCosts }) {
  return (
    <span>
      <strong>{deltaMonthly}</strong> a month, <span className="muted">{totalMonthly} in all</span>
    </span>
  )
}

/** Costs is what each resource costs, where that is known from, and what has no known price. */
export function Costs({ costs }: { costs: InsightCosts }) {
  const { estimated, aiEstimated, unpriced, pricesDate } = costs
  return (
    <>
      {estimated.length > 0 ? (
        <>
          <p><Price costs={costs} />{pricesDate ? <span className="muted">; prices of {pricesDate} or later, in US dollars, of what runs all the time</span> : null}</p>
          <Table label="Cost by resource" columns={columns} rows={estimated} rowKey={({ resource, monthlyCost, deltaMonthly }) => [resource, monthlyCost, deltaMonthly].join('\n')} keys={false} />
        </>
      ) : null}
      {aiEstimated.length > 0 ? (
        <div className={styles.guessed}>
          <h3>Estimated by a model</h3>
          <Some label="Estimated by a model" items={aiEstimated} itemKey={({ resource }, index) => `${resource} ${String(index)}`}>
            {({ resource, monthlyCost, confidence }) => <><code>{resource}</code> {monthlyCost} a month, <span className="muted">confidence {confidence}</span></>}
          </Some>
        </div>
      ) : null}
      {unpriced.length > 0 ? (
        <details className={styles.unpriced}>
          <summary>{count(unpriced.length, 'resource')} without a known price: not counted, and not free</summary>
          <Some label="Without a known price" items={unpriced} itemKey={(address, index) => `${address} ${String(index)}`}>
            {(address) => <code>{address}</code>}
          </Some>
        </details>
      ) : null}
    </>
  )
}

const columns: Column<InsightCost>[] = [
  { title: 'Resource', cell: ({ resource }) => <code title={resource}>{resource}</code> },
  { title: 'A month', width: '7rem', align: 'right', cell: ({ monthlyCost }) => <span className={styles.amount}>{monthlyCost}</span> },
  { title: 'Difference', width: '7rem', align: 'right', cell: ({ deltaMonthly }) => <span className={styles.amount}>{deltaMonthly}</span> },
  { title: 'Source', width: '12rem', cell: ({ source }) => <span title={source}>{source}</span>, secondary: true },
  { title: 'Assumed', width: '18rem', cell: ({ note }) => <span className="muted" title={note}>{note}</span>, secondary: true },
]
