import * as Radix from '@radix-ui/react-dropdown-menu'
import { useLayoutEffect, useRef } from 'react'
import type { MenuItem, MenuProps } from './Menu'
import styles from './Menu.module.css'

interface Props extends MenuProps {
  /** It was asked for before it was there: it opens at once. */
  asked: boolean
  /** The button in whose place it comes had the focus. */
  focused: boolean
}

/** RadixMenu is the menu itself, in the place of the button that Menu shows at first. */
export default function RadixMenu({ label, children, heading, items, asked, focused }: Props) {
  const trigger = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    if (focused) trigger.current?.focus()
    // As it comes.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [])
  const chosen = useRef<MenuItem>(undefined)
  // What is chosen is done once the button has the focus again: a dialog that it opens gives the focus back to there.
  const closed = (event: Event) => {
    const item = chosen.current
    chosen.current = undefined
    if (!item) return
    event.preventDefault()
    trigger.current?.focus()
    item.run()
  }
  return (
    <Radix.Root modal={false} defaultOpen={asked}>
      <Radix.Trigger ref={trigger} className={styles.trigger} aria-label={label}>
        {children}
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className={styles.content} align="end" sideOffset={4} onCloseAutoFocus={closed}>
          {heading === undefined ? null : <Radix.Label className={styles.heading}>{heading}</Radix.Label>}
          {items.map((item) => (
            <Radix.Item key={item.label} className={item.loss ? styles.loss : styles.item} onSelect={() => { chosen.current = item }}>
              <span>{item.label}</span>
              {item.chosen ? <span aria-label="chosen">✓</span> : null}
            </Radix.Item>
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
