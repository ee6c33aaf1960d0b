import { expect, test } from 'vitest'
import { changesOf, inWords, keepsLess, kindOf, needsAnother, valuesOf } from './kept'

const setting = (name: string, value: string, usual = value) => ({ name, value, default: usual, said: value !== usual })
const all = [setting('keep_versions', 'off'), setting('keep_days', '90', 'off'), setting('deleted_days', '30'), setting('guards', 'warn'), setting('guard_shrink_percent', '50')]

test('only what is another value is changed, and an emptied field is the default', () => {
  expect(changesOf(all, valuesOf(all))).toEqual([])
  expect(changesOf(all, { ...valuesOf(all), guards: 'hold', keep_days: ' ' })).toEqual([{ name: 'keep_days', value: '' }, { name: 'guards', value: 'hold' }])
})

test('to keep less than before is told apart from everything else', () => {
  const less = (name: string, value: string) => keepsLess(all, [{ name, value }])
  expect([less('keep_versions', '10'), less('keep_days', '89'), less('deleted_days', '1')]).toEqual([true, true, true])
  expect([less('keep_days', 'off'), less('keep_days', ''), less('keep_days', '91'), less('deleted_days', ''), less('guards', 'off'), less('keep_days', 'x')]).toEqual([false, false, false, false, false, false])
})

test('a setting says which other one it needs', () => {
  const off = [...all.filter(({ name }) => name !== 'guards'), setting('guards', 'off', 'warn')]
  expect(needsAnother('guard_shrink_percent', off)).toMatch(/no effect/)
  expect(needsAnother('guard_shrink_percent', all)).toBeUndefined()
  expect(needsAnother('keep_days', all)).toBeUndefined()
  expect(needsAnother('keep_days', [setting('keep_versions', '5', 'off'), setting('keep_days', '9', 'off')])).toMatch(/both/)
})

test('values are told in words, those that are not known as they are', () => {
  expect(inWords({ name: 'guards', value: 'hold' })).toBe('hold: keep it back until somebody decides')
  expect(inWords({ name: 'keep_days', value: 'off' })).toBe('for ever')
  expect(inWords({ name: 'guard_shrink_percent', value: '50' })).toBe('50 %')
  expect([kindOf('to_come').label, inWords({ name: 'to_come', value: '<b>' })]).toEqual(['to_come', '<b>'])
})
