import { useQuery } from '@tanstack/react-query'
import { useMemo, type ReactNode } from 'react'
import { insightQuery } from '@/api/runs'
import type { Insight, Run } from '@/api/types'
import { countsBySeverity, sorted } from './findings'
import styles from './insight.module.css'
import { Severity } from './Severity'

/** Marked is what is to be said of one resource, where its change stands. */
export interface Marked {
  findings: Insight['findings']
  undone: boolean
  /** By how much its cost changes; nothing where it doesn't. */
  cost: string | undefined
}

/** marked gathers what is to be said of each resource, by its address. */
export function marked(insight: Insight): Map<string, Marked> {
  const all = new Map<string, Marked>()
  const of = (address: string): Marked => {
    const known = all.get(address) ?? { findings: [], undone: false, cost: undefined }
    all.set(address, known)
    return known
  }
  for (const finding of sorted(insight).open) of(finding.resource).findings.push(finding)
  for (const { resource } of insight.facts.irreversible) of(resource).undone = true
  for (const { resource, deltaMonthly } of insight.costs.estimated) {
    if (!/^[+-]?\$0\.00$/.test(deltaMonthly)) of(resource).cost = deltaMonthly
  }
  return all
}

/** marksOf shows what is to be said of a resource, if anything is. */
export function marksOf(insight: Insight): (address: string) => ReactNode {
  const all = marked(insight)
  return (address) => {
    const mark = all.get(address)
    return mark ? <Marks mark={mark} /> : null
  }
}

/** useMarks is marksOf a run's insight, once that is there. */
export function useMarks(run: Pick<Run, 'id' | 'pin'>): ((address: string) => ReactNode) | undefined {
  const insight = useQuery(insightQuery(run)).data
  return useMemo(() => (insight ? marksOf(insight) : undefined), [insight])
}

function Marks({ mark: { findings, undone, cost } }: { mark: Marked }) {
  return (
    <span className={styles.marks}>
      {undone ? <span className={styles.high}><span aria-hidden="true">⚠</span> can’t be undone</span> : null}
      {countsBySeverity(findings).map(([severity, count]) => <Severity key={severity} severity={severity} count={count} />)}
      {cost === undefined ? null : <span>{cost} a month</span>}
    </span>
  )
}
