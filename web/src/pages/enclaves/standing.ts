import type { Partition } from '@/api/enclaves'
import { isUnfinished } from '@/api/runs'
import type { Run } from '@/api/types'

/** Standing is where a partition stands by its runs, the newest first. */
export interface Standing {
  /** The last run that has, or may have, changed something. */
  last?: Run
  /** A run behind that one that has found something to change. */
  found?: Run
}

/** standingOf finds out where a partition stands. */
export function standingOf(runs: Run[]): Standing {
  const at = runs.findIndex(({ kind }) => kind === 'apply' || kind === 'destroy')
  const behind = at < 0 ? runs : runs.slice(0, at)
  const looked = behind.find(({ status, counts }) => status === 'succeeded' && counts !== undefined)
  const found = looked?.counts && (looked.counts.any || looked.counts.drift > 0) ? looked : undefined
  return { ...(at < 0 ? {} : { last: runs[at]! }), ...(found ? { found } : {}) }
}

/** Reconcile is the runs that one reconcile has ordered, in the order in which it did. */
export interface Reconcile {
  id: string
  runs: Run[]
}

/** reconcilesOf puts the runs of reconciles together, the newest reconcile first. */
export function reconcilesOf(runs: Run[]): Reconcile[] {
  const all = new Map<string, Run[]>()
  for (const run of byTime(runs)) {
    if (run.reconcile !== undefined) all.set(run.reconcile, [run, ...(all.get(run.reconcile) ?? [])])
  }
  return [...all].map(([id, of]) => ({ id, runs: of }))
}

/** byTime sorts runs, the newest first: their IDs are in the order of time. */
export function byTime(runs: Run[]): Run[] {
  return [...runs].sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0))
}

/** summaryOf says what a reconcile would change, or has, in a line. */
export function summaryOf({ runs }: Reconcile): string {
  const sum = { add: 0, change: 0, destroy: 0 }
  for (const { counts } of runs) {
    sum.add += counts?.add ?? 0
    sum.change += counts?.change ?? 0
    sum.destroy += counts?.destroy ?? 0
  }
  const waits = runs.filter(({ status }) => status === 'awaiting_approval').length
  const going = runs.filter(({ status }) => isUnfinished(status)).length - waits
  const failed = runs.filter(({ status }) => status === 'failed').length
  const parts = [`+${String(sum.add)} ~${String(sum.change)} -${String(sum.destroy)}`]
  if (waits > 0) parts.push(`${String(waits)} for approval`)
  if (going > 0) parts.push(`${String(going)} under way`)
  if (failed > 0) parts.push(`${String(failed)} failed`)
  return parts.join(', ')
}

/** edgesOf are the imports between partitions of a list, as numbers of its entries. */
export function edgesOf(partitions: Partition[]): { from: number; to: number }[] {
  const at = new Map(partitions.map(({ path }, index) => [path, index]))
  return partitions.flatMap(({ needs }, from) => needs.flatMap((need) => (at.has(need) ? [{ from, to: at.get(need)! }] : [])))
}
