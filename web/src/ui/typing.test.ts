import { expect, test } from 'vitest'
import { isTyping } from './keys'

test('keys belong to an open dialog, and to the page again as soon as it is closed, wherever the focus still is', () => {
  const dialog = document.createElement('dialog')
  const button = dialog.appendChild(document.createElement('button'))
  document.body.append(dialog)
  dialog.setAttribute('open', '')
  expect(isTyping(button)).toBe(true)
  dialog.removeAttribute('open')
  expect(isTyping(button)).toBe(false)
  dialog.remove()
})
