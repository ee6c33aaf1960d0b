import type { ReactNode } from 'react'
import styles from './Badge.module.css'

export type Tone = 'done' | 'person' | 'loss' | 'going' | 'still'

const shapes: Record<Tone, string> = { done: '✓', person: '●', loss: '✕', going: '◐', still: '○' }

/** Badge is a word with a shape and a colour: never colour alone. */
export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={`${styles.badge!} ${styles[tone]!}`}>
      <span aria-hidden="true">{shapes[tone]}</span>
      {children}
    </span>
  )
}
