import { expect, test } from 'vitest'
import { isSameText } from './lineEnds'

test.each([
  ['a\nb', 'a\nb', true],
  ['a\r\nb\nc\rd', 'a\nb\nc\nd', true],
  ['\uFEFFa', 'a', true],
  ['a\n', 'a', false],
  ['a\n\nb', 'a\r\nb', false],
])('%j and %j', (one, other, same) => {
  expect(isSameText(one, other)).toBe(same)
})
