import { expect, test } from 'vitest'
import { healthOf } from './health'

test('a repository is fetched, was never, or can’t be, and then it says why', () => {
  expect(healthOf({ fetched_at: '2026-01-01T00:00:00Z' })).toEqual({ tone: 'done', words: 'fetched' })
  expect(healthOf({})).toEqual({ tone: 'still', words: 'not fetched yet' })
  expect(healthOf({ fetched_at: '2026-01-01T00:00:00Z', failures: 2, kind: 'unreachable' })).toEqual({ tone: 'loss', words: 'not fetched: nobody answers there' })
  // A word that this page does not know is shown as it is.
  expect(healthOf({ failures: 1, kind: 'no_git' }).words).toBe('not fetched: no git')
})
