import type { KeyboardEvent, Ref } from 'react'
import styles from './Editor.module.css'
import { before, tabKey, useTabMoves } from './leave'

/** WayOut says how the keyboard leaves the text above it, and has the focus then: from here Tab goes on, and Shift-Tab to what is before the text. */
export function WayOut({ ref }: { ref: Ref<HTMLParagraphElement> }) {
  const moves = useTabMoves()
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const text = event.currentTarget.previousElementSibling
    if (event.key !== 'Tab' || !event.shiftKey || !text) return
    event.preventDefault()
    before(text)?.focus()
  }
  return (
    // It has the focus for a moment only, on the way from the text to what is around it.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <p ref={ref} tabIndex={-1} className={styles.wayOut} onKeyDown={press}>
      <kbd>Esc</kbd> leaves the text. {moves ? 'Tab moves the focus' : 'Tab indents'}; <kbd>{tabKey}</kbd> has it {moves ? 'indent' : 'move the focus'}.
    </p>
  )
}
