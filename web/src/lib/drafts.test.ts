import { beforeEach, expect, test } from 'vitest'
import { Drafts } from './drafts'

beforeEach(() => { sessionStorage.clear() })

const draft = (text: string) => ({ text, base: 'of a' })

test('a draft is there for who has typed it, in its workspace, until it is dropped', () => {
  const mine = new Drafts(sessionStorage).of('acme ana', 'prod/net')
  mine.keep('modules/a.tf', draft('mine'))
  const again = new Drafts(sessionStorage)
  expect(again.of('acme ana', 'prod/net').all().get('modules/a.tf')).toMatchObject(draft('mine'))
  for (const [holder, workspace] of [['acme bob', 'prod/net'], ['globex ana', 'prod/net'], ['acme ana', 'prod'], ['acme', 'ana/prod/net']] as const) {
    expect(again.of(holder, workspace).all().size).toBe(0)
  }
  expect(again.count('acme ana')).toBe(1)
  mine.drop('modules/a.tf')
  expect(again.count('acme ana')).toBe(0)
})

test('who signs out on purpose leaves none, and those of others stay', () => {
  const drafts = new Drafts(sessionStorage)
  drafts.of('ana', 'a').keep('x', draft('1'))
  drafts.of('ana', 'b').keep('x', draft('2'))
  drafts.of('bob', 'a').keep('x', draft('3'))
  drafts.forget('ana')
  expect([drafts.count('ana'), drafts.count('bob')]).toEqual([0, 1])
})

test('the oldest make room, and what others have put there is no draft', () => {
  const drafts = new Drafts(sessionStorage, 400)
  sessionStorage.setItem('holdfast.draft/ana/a/broken', '{')
  const keeper = drafts.of('ana', 'a')
  for (let at = 0; at < 50; at++) keeper.keep(`f${String(at)}`, draft('x'.repeat(50)))
  expect(keeper.all().has('f49')).toBe(true)
  expect(keeper.all().has('f0')).toBe(false)
  expect([...keeper.all().values()].reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(400)
})
