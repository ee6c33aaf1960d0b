import { expect, test } from 'vitest'
import type { Run, State } from '@/api/types'
import { byDay, needsOf } from './needs'

const now = new Date(2026, 4, 20, 12)

function run(id: string, workspace: string, status: Run['status'], daysAgo = 0): Run {
  const created = new Date(now.getTime() - daysAgo * 24 * 3600 * 1000).toISOString()
  return { id, workspace, kind: 'apply', status, phase: '', trigger: { key_id: 'k' }, attempt: 1, snapshot: 's', created_at: created }
}

function state(name: string, more: Partial<State>): State {
  return { name, version: null, lock: null, open_candidates: 0, ...more }
}

test('what waits for a person comes before what has failed', () => {
  const runs = [run('1', 'a', 'failed'), run('2', 'b', 'awaiting_approval'), run('3', 'c', 'orphaned')]
  expect(needsOf(runs, [state('d', { open_candidates: 1 })], now).map(({ kind }) => kind)).toEqual(['approval', 'orphaned', 'held', 'failed'])
})

test('a failure is over when a newer run of the workspace went well', () => {
  expect(needsOf([run('2', 'a', 'succeeded'), run('1', 'a', 'failed')], [], now)).toEqual([])
})

test('a lock is old when its holder gave no sign for an hour', () => {
  const lock = (minutes: number) => ({ id: 'x', who: 'bob', operation: '', since: '2026-05-20T00:00:00Z', last_seen: new Date(now.getTime() - minutes * 60000).toISOString(), key_id: 'k', info: null })
  const states = [state('young', { lock: lock(5) }), state('old', { lock: lock(90) })]
  expect(needsOf([], states, now).map(({ name }) => name)).toEqual(['old'])
})

test('runs are counted by day', () => {
  const { all, failed } = byDay([run('1', 'a', 'failed'), run('2', 'a', 'succeeded'), run('3', 'a', 'succeeded', 2), run('4', 'a', 'failed', 30)], now)
  expect(all).toEqual([0, 0, 0, 0, 1, 0, 2])
  expect(failed).toEqual([0, 0, 0, 0, 0, 0, 1])
})
