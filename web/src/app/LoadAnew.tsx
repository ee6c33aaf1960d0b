import type { ReactNode } from 'react'
import { Button } from '@/ui/Button'
import styles from './LoadAnew.module.css'

/** LoadAnew says why the page should be loaded anew, and does it. What was typed and not saved comes back. */
export function LoadAnew({ children }: { children: ReactNode }) {
  return (
    <div className={styles.anew} role="alert">
      <p>{children}</p>
      <Button kind="main" onClick={() => { window.location.reload() }}>Load the page anew</Button>
    </div>
  )
}

/** SignedInAsOther stands in the place of the page when another tab has signed in as somebody else. */
export function SignedInAsOther() {
  return (
    <main className={styles.page}>
      <h1>You are signed in as another one</h1>
      <LoadAnew>
        In another tab this browser has signed in as somebody else, or to another organization. Nothing more was done here as that
        one.
      </LoadAnew>
    </main>
  )
}
