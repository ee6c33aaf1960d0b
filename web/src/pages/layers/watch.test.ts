import { expect, test } from 'vitest'
import { layer } from '@/testing/layers'
import { isWanted, regionsOf, watchOf } from './watch'

const off = { ...layer('a').settings, drift: { off: true } }

test('a layer has drifted, is as planned, was not checked, or is not', () => {
  expect(watchOf(layer('a', { drifted: 2 }))).toBe('drifted')
  expect(watchOf(layer('a'))).toBe('planned')
  expect(watchOf(layer('a', { checked_at: null }))).toBe('unchecked')
  expect(watchOf(layer('a', { settings: off }))).toBe('off')
  // What was found stays found when checks are turned off.
  expect(watchOf(layer('a', { drifted: 1, settings: off }))).toBe('drifted')
})

test('the map has all layers and workspaces once, by folder, and what has drifted first', () => {
  const regions = regionsOf(
    [layer('dev/a'), layer('prod/a', { drifted: 1 }), layer('prod/b', { drifted: 3 }), layer('prod/c', { checked_at: null }), layer('alone')],
    ['prod/a', 'prod/d', 'dev/by-hand', 'alone'],
    new Set(['dev/by-hand', 'prod/a']),
  )
  expect(regions.map(({ folder, all }) => [folder, all])).toEqual([['prod/', 4], ['dev/', 2], ['', 1]])
  expect(regions[0]!.counts).toEqual({ drifted: 2, planned: 0, unchecked: 1, off: 0, none: 1 })
  expect(regions[0]!.drifted.map(({ name, drifted }) => [name, drifted])).toEqual([['prod/b', 3], ['prod/a', 1]])
  // Of a workspace that is no layer nobody has counted the resources.
  expect(regions[1]!.drifted).toEqual([{ name: 'dev/by-hand', watch: 'drifted' }])
})

test('filters are words of the name, the state, the repository and how it stands', () => {
  const one = layer('prod/Network', { state: 'ApplyNeeded', drifted: 1 })
  expect(isWanted(one, {})).toBe(true)
  expect(isWanted(one, { q: 'net prod' })).toBe(true)
  expect(isWanted(one, { q: 'net dev' })).toBe(false)
  expect(isWanted(one, { state: 'Idle' })).toBe(false)
  expect(isWanted(one, { state: 'ApplyNeeded', repository: 'infra', watch: 'drifted' })).toBe(true)
  expect(isWanted(one, { repository: 'other' })).toBe(false)
  expect(isWanted(one, { watch: 'planned' })).toBe(false)
})
