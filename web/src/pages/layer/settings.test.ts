import { expect, test } from 'vitest'
import { checksOf, windowOf } from './settings'

test('how often a layer is checked is said in words', () => {
  expect(checksOf({})).toBe('every 20 min, give or take a tenth')
  expect(checksOf({ every: 7200 })).toBe('every 2 h, give or take a tenth')
  expect(checksOf({ every: 90 })).toBe('every 90 s, give or take a tenth')
  expect(checksOf({ cron: '0 6 * * *', time_zone: 'Europe/Berlin' })).toBe('0 6 * * * (cron, Europe/Berlin)')
  expect(checksOf({ every: 90, refresh_only: true })).toBe('every 90 s, give or take a tenth, refresh only')
  expect(checksOf({ off: true, every: 60 })).toBe('only when somebody asks')
})

test('a window says what it allows or denies, when, and for how long', () => {
  expect(windowOf({ kind: 'deny', schedule: '0 18 * * 5', time_zone: 'UTC', duration: 216_000, actions: ['apply'] })).toBe('deny apply: 0 18 * * 5 (cron, UTC), for 60 h')
  expect(windowOf({ kind: 'allow', schedule: '0 8 * * *', duration: 3600 })).toBe('allow plan and apply: 0 8 * * * (cron), for 1 h')
})
