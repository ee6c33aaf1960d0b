import type { Run, State } from '@/api/types'

/** Need is something that waits for a person. */
export interface Need {
  key: string
  kind: 'approval' | 'orphaned' | 'held' | 'failed' | 'lock'
  name: string
  at: string
  by: string
  run?: Run
  held?: number
}

const hour = 3600 * 1000
const urgency: Need['kind'][] = ['approval', 'orphaned', 'held', 'failed', 'lock']

/** needsOf lists what needs somebody now, the most urgent first: a failed run counts while nothing newer of its workspace went well. */
export function needsOf(runs: Run[], states: State[], now: Date): Need[] {
  const needs: Need[] = []
  const seen = new Set<string>()
  for (const run of runs) {
    const by = run.trigger.subject || run.trigger.key_name || run.trigger.key_id
    const need = { key: run.id, name: run.workspace, at: run.planned_at ?? run.finished_at ?? run.created_at, by, run }
    if (run.status === 'awaiting_approval') needs.push({ ...need, kind: 'approval' })
    if (run.status === 'orphaned') needs.push({ ...need, kind: 'orphaned' })
    if (run.status === 'failed' && !seen.has(run.workspace)) needs.push({ ...need, kind: 'failed' })
    seen.add(run.workspace)
  }
  for (const { name, lock, open_candidates: held, version } of states) {
    if (held > 0) needs.push({ key: `held ${name}`, kind: 'held', name, at: version?.created_at ?? '', by: '', held })
    if (lock && !lock.run && now.getTime() - new Date(lock.last_seen).getTime() > hour) {
      needs.push({ key: `lock ${name}`, kind: 'lock', name, at: lock.since, by: lock.who || lock.key_id })
    }
  }
  return needs.sort((a, b) => urgency.indexOf(a.kind) - urgency.indexOf(b.kind))
}

/** byDay counts runs of the last seven days by day of the reader's zone, the oldest first. */
export function byDay(runs: Run[], now: Date): { days: Date[]; all: number[]; failed: number[] } {
  const days = Array.from({ length: 7 }, (_, back) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - 6 + back))
  const all = days.map(() => 0)
  const failed = days.map(() => 0)
  for (const run of runs) {
    const at = new Date(run.created_at)
    const index = days.findLastIndex((day) => day <= at)
    if (index < 0) continue
    all[index]!++
    if (run.status === 'failed' || run.status === 'orphaned') failed[index]!++
  }
  return { days, all, failed }
}
