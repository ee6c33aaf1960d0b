import type { Home, Run } from '@/api/types'
import type { Days } from '@/ui/DayChart'

/** Need is something that waits for a person. */
export interface Need {
  key: string
  kind: 'approval' | 'orphaned' | 'held' | 'failed' | 'drift' | 'lock'
  name: string
  at: string
  by: string
  run?: Run
}

const hour = 3600 * 1000

/** needsOf lists what needs somebody now, the most urgent first. A lock counts once its holder gave no sign for an hour, unless a run has it. */
export function needsOf({ runs, states }: Home, now: Date): Need[] {
  const ofRuns = (kind: Need['kind'], all: Run[] | undefined): Need[] =>
    (all ?? []).map((run) => ({
      key: run.id,
      kind,
      name: run.workspace,
      at: run.planned_at ?? run.finished_at ?? run.created_at,
      by: run.trigger.subject || run.trigger.key_name || run.trigger.key_id,
      run,
    }))
  const old = (states?.locks ?? []).filter(({ run, seen }) => !run && now.getTime() - new Date(seen).getTime() > hour)
  return [
    ...ofRuns('approval', runs?.waiting),
    ...ofRuns('orphaned', runs?.orphaned),
    ...(states?.held ?? []).map((name): Need => ({ key: `held ${name}`, kind: 'held', name, at: '', by: '' })),
    ...ofRuns('failed', runs?.failed),
    ...ofRuns('drift', runs?.drift),
    ...old.map(({ state, who, since }): Need => ({ key: `lock ${state}`, kind: 'lock', name: state, at: since, by: who })),
  ]
}

/** beyond says how many there are that the server has counted and not named, and whether there are some that it has not counted. */
export function beyond({ runs }: Home): { count: number; more: boolean } {
  if (!runs) return { count: 0, more: false }
  return {
    count: Math.max(runs.failed_count - runs.failed.length, 0) + Math.max(runs.drift_count - runs.drift.length, 0),
    more: runs.waiting_more || runs.orphaned_more,
  }
}

/** latestOf is the newest run whose plan changes something; of it there is an insight. */
export function latestOf({ runs }: Home): Run | undefined {
  return runs?.recent.find(({ pin, counts }) => pin !== undefined && counts?.any === true)
}

const bad = ['failed', 'orphaned']

/** weekOf counts the outcomes of days, which are in UTC: all runs that ended, and in front of them those that ended badly. It is null where the server has none to tell. */
export function weekOf(home: Home): Days | null {
  const days = home.runs?.days
  if (!days) return null
  const sum = (outcomes: Record<string, number>, wanted: (status: string) => boolean) =>
    Object.entries(outcomes).reduce((total, [status, runs]) => total + (wanted(status) ? runs : 0), 0)
  return {
    days: days.map(({ day }) => new Date(`${day}T00:00:00Z`)),
    all: days.map(({ outcomes }) => sum(outcomes, () => true)),
    front: days.map(({ outcomes }) => sum(outcomes, (status) => bad.includes(status))),
  }
}
