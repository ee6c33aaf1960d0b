import { expect, test } from 'vitest'
import { run, snapshot } from '@/testing/layers'
import { chainOf, commitOf } from './chain'

const one = '1'.repeat(40)
const two = '2'.repeat(40)
const commit = (id: string) => ({ commit: id, at: '2026-01-01T00:00:00Z', relevant: true, why: 'it changes main.tf' })

test('a configuration names the commit that it was brought from, and nothing else does', () => {
  expect(commitOf(`commit ${one} of infra`)).toEqual({ commit: one, repository: 'infra' })
  for (const message of [undefined, '', `commit ${one} of <img>`, `commit ${one} of infra\nmore`, 'commit main of infra', `my commit ${one} of infra`]) expect(commitOf(message)).toBeUndefined()
})

test('a commit leads to the runs of its configuration, and checks for drift are none of them', () => {
  const chain = chainOf(
    [commit(two), commit(one)],
    {
      runs: [run('d', 'b', { kind: 'drift' }), run('c', 'b', { kind: 'apply', version_after: 2 }), run('b', 'b'), run('a', 'x')],
      snapshots: [snapshot('b', `commit ${two} of infra`), snapshot('a', `commit ${one} of infra`), snapshot('x', `commit ${one} of another`)],
    },
    'infra',
  )
  expect(chain.map(({ commit, runs }) => [commit.commit, runs.map(({ id }) => id)])).toEqual([[two, ['c', 'b']], [one, []]])
})
