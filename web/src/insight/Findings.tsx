import type { ReactNode } from 'react'
import type { InsightFinding } from '@/api/types'
import { Some } from '@/ui/Some'
import { keyOf, webAddress } from './findings'
import styles from './insight.module.css'
import { Severity } from './Severity'

/** Findings lists what rules found, with what to do about it. */
export function Findings({ label, findings }: { label: string; findings: InsightFinding[] }) {
  return (
    <Some label={label} className={styles.findings} items={findings} itemKey={keyOf}>
      {(finding) => <Finding finding={finding} />}
    </Some>
  )
}

function Finding({ finding }: { finding: InsightFinding }) {
  const { severity, title, resource, description, recommendation, waived } = finding
  return (
    <>
      <Severity severity={severity} />
      <div className={styles.finding}>
        <p className={styles.findingHead}>
          <strong>{title || description}</strong> <code>{resource || 'the plan'}</code> <span className={styles.rule}><Rule finding={finding} /></span>
        </p>
        {title && description ? <p>{description}</p> : null}
        {recommendation ? <p><span className="muted">What to do:</span> {recommendation}</p> : null}
        {waived ? <p><span className="muted">Let be by</span> {waived.owner} <span className="muted">until {waived.expires}:</span> {waived.reason}</p> : null}
      </div>
    </>
  )
}

/** Rule is a rule's name, with what is written about it where that is a page of the web. */
function Rule({ finding: { rule, link } }: { finding: InsightFinding }): ReactNode {
  const address = webAddress(link)
  if (address === undefined) return <span className="muted">{rule}</span>
  return (
    <a href={address} rel="noreferrer" target="_blank">
      {rule}<span className="visually-hidden"> in its documentation, in a new tab</span> <span aria-hidden="true">↗</span>
    </a>
  )
}
