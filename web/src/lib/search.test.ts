import { expect, test } from 'vitest'
import { list, turned, turnedOf } from './search'

test('a list of an address is texts and nothing else', () => {
  expect(list({ open: ['a/', 1, null, '', { x: 1 }], closed: 'b/', other: ['c/'] }, 'open', 'closed')).toEqual({ open: ['a/'], closed: ['b/'] })
  expect(list({ open: [], closed: 7 }, 'open', 'closed')).toEqual({})
})

test('a folder that is opened is closed no more, and the other way round', () => {
  const once = turned({}, 'prod/', false)
  expect(once).toEqual({ open: undefined, closed: ['prod/'] })
  expect(turned(once, 'prod/', true)).toEqual({ open: ['prod/'], closed: undefined })
  const both = turned(turned(once, 'dev/', true), 'dev/', true)
  expect(both).toEqual({ open: ['dev/'], closed: ['prod/'] })
  expect([...turnedOf(both)]).toEqual([['prod/', false], ['dev/', true]])
})
