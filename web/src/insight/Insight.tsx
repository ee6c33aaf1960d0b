import type { Insight as Said, Run } from '@/api/types'
import { Copyable } from '@/ui/Copyable'
import { Section } from '@/ui/Page'
import { Some } from '@/ui/Some'
import { Empty } from '@/ui/states'
import { Costs } from './Costs'
import { countsBySeverity, hasCost, isQuiet, sorted } from './findings'
import { Findings } from './Findings'
import styles from './insight.module.css'
import { Line } from './Line'
import { Meaning } from './Meaning'
import { Model } from './Model'
import { Severity } from './Severity'
import { Warnings } from './Warnings'
import { Words } from './words'

interface Choosing {
  /** The severity whose findings are wanted; nothing for all. */
  severity: string | undefined
  onSeverity: (severity: string | undefined) => void
}

/** Insight is what a run's plan means: in words, what of it is dangerous, and what it costs. */
export default function Insight({ run, ...choosing }: { run: Run } & Choosing) {
  return <Meaning run={run} rows={8}>{(insight) => <All insight={insight} {...choosing} />}</Meaning>
}

function All({ insight, ...choosing }: { insight: Said } & Choosing) {
  const { broken, costs, facts: { irreversible } } = insight
  const { open, standing, waived } = sorted(insight)
  return (
    <>
      <Line insight={insight} />
      <Warnings insight={insight} />
      <Section title="In words">
        <div className={styles.words}><Words text={insight.summary} /></div>
      </Section>
      {isQuiet(insight) ? <Empty title="Nothing to look out for.">No rule finds anything in this plan, and all of it can be undone. Read its changes all the same.</Empty> : null}
      {irreversible.length > 0 ? (
        <Section title={titled('Can’t be undone', irreversible.length)}>
          <Some label="Can’t be undone" className={styles.dangers} items={irreversible} itemKey={({ resource }, index) => `${resource} ${String(index)}`}>
            {({ resource, reason }) => <><span className={styles.high} aria-hidden="true">⚠</span> <code>{resource}</code> {reason}</>}
          </Some>
        </Section>
      ) : null}
      {open.length > 0 ? <Open findings={open} {...choosing} /> : null}
      {broken.length > 0 ? (
        <Section title={titled('Rules that could not be asked', broken.length)}>
          <p className="muted">Each counts as a grave finding: nobody knows what it would have found.</p>
          <Some label="Rules that could not be asked" className={styles.dangers} items={broken} itemKey={({ rule }, index) => `${rule} ${String(index)}`}>
            {({ rule, reason }) => <><span className={styles.high} aria-hidden="true">✕</span> <code>{rule}</code> {reason}</>}
          </Some>
        </Section>
      ) : null}
      {hasCost(costs) ? <Section title="Cost"><Costs costs={costs} /></Section> : null}
      {insight.model ? <Model said={insight.model} /> : null}
      {standing.length > 0 ? <Apart title="Findings of what the plan leaves as it is" findings={standing} /> : null}
      {waived.length > 0 ? <Apart title="Waived findings" findings={waived} /> : null}
      <p className="muted">Rules <Copyable value={insight.rules_digest} short={insight.rules_digest.slice(0, 12)} label="digest of the rules" /></p>
    </>
  )
}

function titled(title: string, number: number): string {
  return `${title} (${number.toLocaleString()})`
}

/** Open is the findings that count, of one severity or of all. */
function Open({ findings, severity, onSeverity }: { findings: Said['findings'] } & Choosing) {
  const counts = countsBySeverity(findings)
  const chosen = counts.some(([one]) => one === severity) ? severity : undefined
  const shown = chosen === undefined ? findings : findings.filter((finding) => finding.severity === chosen)
  return (
    <Section title={titled('Findings', findings.length)} actions={counts.length > 1 ? (
      <div role="group" aria-label="Findings of one severity" className={styles.choices}>
        {counts.map(([one, number]) => (
          <button key={one} type="button" className={styles.choice} aria-pressed={one === chosen} onClick={() => { onSeverity(one === chosen ? undefined : one) }}>
            <Severity severity={one} count={number} />
          </button>
        ))}
      </div>
    ) : undefined}>
      <Findings key={chosen} label="Findings" findings={shown} />
    </Section>
  )
}

/** Apart is findings that do not count against the plan, which are opened to be read. */
function Apart({ title, findings }: { title: string; findings: Said['findings'] }) {
  return (
    <details className={styles.apart}>
      <summary>{titled(title, findings.length)}</summary>
      <Findings label={title} findings={findings} />
    </details>
  )
}
