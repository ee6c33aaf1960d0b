import * as Radix from '@radix-ui/react-tabs'
import type { ReactNode } from 'react'
import styles from './Tabs.module.css'

export interface Tab {
  id: string
  label: ReactNode
  content: () => ReactNode
}

/** Tabs shows one of several views; which one is part of the page's address. */
export function Tabs({ label, tabs, value, onChange }: { label: string; tabs: Tab[]; value: string; onChange: (id: string) => void }) {
  return (
    <Radix.Root value={value} onValueChange={onChange} activationMode="manual">
      <Radix.List className={styles.list} aria-label={label}>
        {tabs.map((tab) => (
          <Radix.Trigger key={tab.id} value={tab.id} className={styles.tab}>
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.id} value={tab.id} className={styles.content}>
          {tab.content()}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}
