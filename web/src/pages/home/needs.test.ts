import { expect, test } from 'vitest'
import type { Home, Run } from '@/api/types'
import { beyond, latestOf, needsOf, weekOf } from './needs'

const now = new Date(2026, 4, 20, 12)

function run(id: string, workspace: string, status: Run['status']): Run {
  return { id, workspace, kind: 'apply', status, phase: '', trigger: { key_id: 'k' }, attempt: 1, snapshot: 's', created_at: now.toISOString() }
}

function home(more: { runs?: Partial<NonNullable<Home['runs']>>; states?: Partial<NonNullable<Home['states']>> }): Home {
  return {
    runs: more.runs ? { waiting: [], waiting_more: false, orphaned: [], orphaned_more: false, failed: [], failed_count: 0, drift: [], drift_count: 0, drifted: [], recent: [], days: [], ...more.runs } : null,
    states: more.states ? { count: 0, more: false, held: [], locks: [], ...more.states } : null,
    workspaces: null,
  }
}

test('what waits for a person comes before what has failed', () => {
  const said = home({
    runs: { failed: [run('1', 'a', 'failed')], waiting: [run('2', 'b', 'awaiting_approval')], orphaned: [run('3', 'c', 'orphaned')], drift: [run('4', 'e', 'succeeded')] },
    states: { held: ['d'] },
  })
  expect(needsOf(said, now).map(({ kind, name }) => `${kind} ${name}`)).toEqual(['approval b', 'orphaned c', 'held d', 'failed a', 'drift e'])
})

test('a lock is old when its holder gave no sign for an hour, and a run has it for as long as it takes', () => {
  const lock = (state: string, minutes: number) => ({ state, who: 'bob', since: '2026-05-20T00:00:00Z', seen: new Date(now.getTime() - minutes * 60000).toISOString() })
  const said = home({ states: { locks: [lock('young', 5), lock('old', 90), { ...lock('of a run', 90), run: '1' }] } })
  expect(needsOf(said, now).map(({ name }) => name)).toEqual(['old'])
})

test('who may read nothing has nothing to do', () => {
  expect(needsOf(home({}), now)).toEqual([])
  expect(weekOf(home({}))).toBeNull()
})

test('runs are counted by day, and those that ended badly apart', () => {
  const week = weekOf(home({ runs: { days: [{ day: '2026-05-19', outcomes: {} }, { day: '2026-05-20', outcomes: { failed: 1, orphaned: 1, succeeded: 3 } }] } }))!
  expect(week.days.map((day) => day.toISOString().slice(0, 10))).toEqual(['2026-05-19', '2026-05-20'])
  expect([week.all, week.front]).toEqual([[0, 5], [0, 2]])
})

test('the latest insight is that of the newest plan that changes something', () => {
  const counts = { add: 0, change: 0, destroy: 0, replace: 0, import: 0, forget: 0, move: 0, drift: 0, outputs: 0, any: false }
  const pin = { digest: 'd' } as NonNullable<Run['pin']>
  const recent = [run('1', 'a', 'planning'), { ...run('2', 'a', 'succeeded'), pin, counts }, { ...run('3', 'b', 'awaiting_approval'), pin, counts: { ...counts, any: true } }]
  expect(latestOf(home({ runs: { recent } }))?.id).toBe('3')
  expect(latestOf(home({ runs: { recent: recent.slice(0, 2) } }))).toBeUndefined()
  expect(latestOf(home({}))).toBeUndefined()
})

test('what the server has counted and not named is said', () => {
  const failed = [run('1', 'a', 'failed')]
  expect(beyond(home({ runs: { failed, failed_count: 1 } }))).toEqual({ count: 0, more: false })
  expect(beyond(home({ runs: { failed, failed_count: 26, drift_count: 3, waiting_more: true } }))).toEqual({ count: 28, more: true })
})
