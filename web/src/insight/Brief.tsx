import type { ReactNode } from 'react'
import type { Insight, Run } from '@/api/types'
import { keyOf, sorted } from './findings'
import styles from './insight.module.css'
import { Line } from './Line'
import { Meaning } from './Meaning'
import { Severity } from './Severity'
import { Warnings } from './Warnings'

const named = 4

/** Brief is what somebody has to know of a plan before they say yes to it. */
export default function Brief({ run, all }: { run: Run; all?: ReactNode }) {
  return (
    <section className={styles.brief} aria-label="Insight">
      <Meaning run={run}>
        {(insight) => (
          <>
            <Line insight={insight} />
            <Warnings insight={insight} />
            <Gravest insight={insight} />
            {all}
          </>
        )}
      </Meaning>
    </section>
  )
}

/** Gravest names what can't be undone, and the gravest findings. */
function Gravest({ insight }: { insight: Insight }) {
  const { irreversible } = insight.facts
  const { open } = sorted(insight)
  const more = Math.max(irreversible.length - named, 0) + Math.max(open.length - named, 0)
  if (irreversible.length + open.length === 0) return null
  return (
    <>
      <ul className={styles.gravest} aria-label="The gravest of it">
        {irreversible.slice(0, named).map(({ resource, reason }) => (
          <li key={`undone ${resource}`}><span className={styles.high}><span aria-hidden="true">⚠</span> can’t be undone</span> <code>{resource}</code> {reason}</li>
        ))}
        {open.slice(0, named).map((finding) => (
          <li key={keyOf(finding)}><Severity severity={finding.severity} /> <code>{finding.resource || 'the plan'}</code> {finding.description || finding.title}</li>
        ))}
      </ul>
      {more > 0 ? <p className="muted">and {more.toLocaleString()} more</p> : null}
    </>
  )
}
