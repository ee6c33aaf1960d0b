import { describe, expect, test } from 'vitest'
import { mayBePartitions, partitionOf } from '@/api/enclaves'
import type { Run, Workspace } from '@/api/types'
import { edgesOf, reconcilesOf, standingOf, summaryOf } from './standing'

function run(id: string, change: Partial<Run> = {}): Run {
  return { id, workspace: 'a/db', kind: 'apply', status: 'succeeded', trigger: { key_id: 'k' }, attempt: 1, snapshot: '', phase: '', created_at: '2026-01-01T00:00:00Z', ...change } as Run
}

const counts = (add: number, any = add > 0) => ({ add, change: 0, destroy: 0, any, drift: 0 }) as NonNullable<Run['counts']>

describe('a partition', () => {
  const record = { format: 1, enclave: 'a', partition: 'db', name: 'Database', produces: 'tcp', backend: 'opentofu', needs: ['a/net', 1] }

  test('is what its record says', () => {
    expect(partitionOf('a/db', JSON.stringify(record))).toEqual({ path: 'a/db', enclave: 'a', name: 'Database', produces: 'tcp', backend: 'opentofu', needs: ['a/net'] })
  })

  test('is none where the record is of another one, or no record', () => {
    for (const text of [null, '', '[]', '1', '{', JSON.stringify({ ...record, format: 2 }), JSON.stringify({ ...record, partition: 'x' })]) {
      expect(partitionOf('a/db', text)).toBeNull()
    }
  })

  test('may be a workspace with two parts and a configuration', () => {
    const workspaces = [{ name: 'a/db', snapshot: {} }, { name: 'a' , snapshot: {} }, { name: 'a/b/c', snapshot: {} }, { name: 'b/x', snapshot: {} }, { name: 'a/new' }] as Workspace[]
    expect(mayBePartitions(workspaces).map(({ name }) => name)).toEqual(['a/db', 'b/x'])
    expect(mayBePartitions(workspaces, 'a').map(({ name }) => name)).toEqual(['a/db'])
  })
})

describe('where a partition stands', () => {
  test('is where the last run is that has changed something', () => {
    expect(standingOf([run('3', { kind: 'plan', counts: counts(0) }), run('2', { status: 'failed' }), run('1')])).toEqual({ last: run('2', { status: 'failed' }) })
    expect(standingOf([])).toEqual({})
  })

  test('names a run that has found changes since', () => {
    const found = run('3', { kind: 'drift', counts: { ...counts(0), drift: 1 } })
    expect(standingOf([found, run('2')])).toEqual({ last: run('2'), found })
    expect(standingOf([run('4', { kind: 'plan', counts: counts(0) }), found, run('2')])).toEqual({ last: run('2') })
  })
})

describe('reconciles', () => {
  const runs = [run('1', { reconcile: 'x', counts: counts(2) }), run('4', { reconcile: 'y', status: 'awaiting_approval', counts: counts(1) }), run('2', { reconcile: 'x', status: 'failed', workspace: 'a/api' }), run('3')]

  test('are the runs that they have in common, the newest first', () => {
    expect(reconcilesOf(runs).map(({ id, runs: of }) => [id, of.map((one) => one.id)])).toEqual([['y', ['4']], ['x', ['1', '2']]])
  })

  test('say what they change, and what waits or has failed', () => {
    expect(reconcilesOf(runs).map(summaryOf)).toEqual(['+1 ~0 -0, 1 for approval', '+2 ~0 -0, 1 failed'])
  })
})

test('imports lead to partitions that are there', () => {
  const partition = (path: string, needs: string[]) => ({ path, needs, enclave: 'a', name: '', produces: '', backend: '' })
  expect(edgesOf([partition('a/db', []), partition('a/api', ['a/db', 'b/other'])])).toEqual([{ from: 1, to: 0 }])
})
