import type { ButtonHTMLAttributes } from 'react'
import styles from './Button.module.css'

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: 'plain' | 'main' | 'loss' | 'quiet'
  /** Waits for an answer: it can't be pressed again meanwhile. */
  busy?: boolean
}

/** Button does something. 'main' is the one thing to do, 'loss' takes something away. */
export function Button({ kind = 'plain', busy = false, disabled, className, type = 'button', ...rest }: Props) {
  const names = [styles.button, styles[kind], className].filter(Boolean).join(' ')
  return <button {...rest} type={type} className={names} disabled={disabled ?? busy} aria-busy={busy} />
}
