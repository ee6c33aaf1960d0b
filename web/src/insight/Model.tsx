import type { InsightModel } from '@/api/types'
import { Section } from '@/ui/Page'
import { Some } from '@/ui/Some'
import styles from './insight.module.css'
import { Severity } from './Severity'

/**
 * Model is what a language model says of a plan. It is marked as that: it may have people asked, and takes nothing away. Its
 * words are plain text, whatever is in them; what it guesses of costs stands beside the costs.
 */
export function Model({ said }: { said: InsightModel }) {
  const { model, summary, findings = [], error } = said
  return (
    <Section title="What a model says, which is no fact">
      <div className={styles.words}>
        <p className="muted">{error ? <>The model {model} has said nothing: {error}</> : <>By the model {model}.</>}</p>
        {summary ? <p className={styles.said}>{summary}</p> : null}
      </div>
      {findings.length > 0 ? (
        <Some label="Findings of the model" className={styles.findings} items={findings} itemKey={({ resource }, index) => `${resource} ${String(index)}`}>
          {({ severity, resource, description, recommendation }) => (
            <>
              <Severity severity={severity} />
              <div className={styles.finding}>
                <p className={styles.findingHead}>{description} <code>{resource}</code></p>
                {recommendation ? <p><span className="muted">What to do:</span> {recommendation}</p> : null}
              </div>
            </>
          )}
        </Some>
      ) : null}
    </Section>
  )
}
