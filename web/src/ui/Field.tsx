import { useId, type InputHTMLAttributes, type KeyboardEvent, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes } from 'react'
import styles from './Field.module.css'

interface Common {
  label: string
  help?: ReactNode
}

/** Field is a line of text with its label and, where needed, what to write. */
export function Field({ label, help, ...rest }: Common & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <input {...rest} id={id} aria-describedby={help === undefined ? undefined : `${id}-help`} />
      {help === undefined ? null : <small id={`${id}-help`} className="muted">{help}</small>}
    </div>
  )
}

/** sendByKey sends the form with Ctrl-Enter: Enter begins another line. */
function sendByKey(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  event.currentTarget.form?.requestSubmit()
}

/** TextField is several lines of text. */
export function TextField({ label, help, ...rest }: Common & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId()
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <textarea rows={3} onKeyDown={sendByKey} {...rest} id={id} aria-describedby={help === undefined ? undefined : `${id}-help`} />
      {help === undefined ? null : <small id={`${id}-help`} className="muted">{help}</small>}
    </div>
  )
}

/** Choice picks one of a few; its label stands beside it. */
export function Choice({ label, children, ...rest }: { label: string; children: ReactNode } & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <label className={styles.choice}>
      <span>{label}</span>
      <select {...rest}>{children}</select>
    </label>
  )
}
