import { expect, test } from 'vitest'
import { isOtherDocument } from './documents'

test('the editor has documents of its own', () => {
  expect(isOtherDocument('/editor/prod/network', '/states')).toBe(true)
  expect(isOtherDocument('/states', '/editor/prod/network')).toBe(true)
  expect(isOtherDocument('/editor/dev/a', '/editor/prod/network')).toBe(false)
  expect(isOtherDocument('/files', '/runs')).toBe(false)
})
