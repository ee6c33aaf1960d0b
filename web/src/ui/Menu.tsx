import * as Radix from '@radix-ui/react-dropdown-menu'
import type { ReactNode } from 'react'
import styles from './Menu.module.css'

export interface MenuItem {
  label: string
  /** Said beside it where it has been chosen. */
  chosen?: boolean
  loss?: boolean
  run: () => void
}

/** Menu opens a list of things to do. It is no modal: the page behind it stays as it is. */
export function Menu({ label, children, heading, items }: { label: string; children: ReactNode; heading?: ReactNode; items: MenuItem[] }) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger className={styles.trigger} aria-label={label}>
        {children}
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className={styles.content} align="end" sideOffset={4}>
          {heading === undefined ? null : <Radix.Label className={styles.heading}>{heading}</Radix.Label>}
          {items.map((item) => (
            <Radix.Item key={item.label} className={item.loss ? styles.loss : styles.item} onSelect={item.run}>
              <span>{item.label}</span>
              {item.chosen ? <span aria-label="chosen">✓</span> : null}
            </Radix.Item>
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
