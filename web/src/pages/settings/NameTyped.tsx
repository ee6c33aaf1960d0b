import { useState } from 'react'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { Field } from '@/ui/Field'
import { Failed } from '@/ui/states'
import styles from './Settings.module.css'

interface Props {
  title: string
  /** What has to be typed before it can be done. */
  name: string
  verb: string
  children: React.ReactNode
  busy: boolean
  error: unknown
  onDone: () => void
  onClose: () => void
}

/** NameTyped asks for the name of what is to go: it is grey until the name is typed. */
export function NameTyped({ title, name, verb, children, busy, error, onDone, onClose }: Props) {
  const [typed, setTyped] = useState('')
  return (
    <Dialog title={title} open onClose={onClose}>
      <form
        className={styles.dialog}
        onSubmit={(event) => {
          event.preventDefault()
          if (typed === name) onDone()
        }}
      >
        {children}
        <Field label={`Type ${name} to go on`} value={typed} onChange={({ target }) => { setTyped(target.value) }} autoComplete="off" spellCheck={false} />
        {error ? <Failed error={error} /> : null}
        <div className={styles.buttons}>
          <Button kind="loss" type="submit" busy={busy} disabled={busy || typed !== name}>{verb}</Button>
          <Button kind="quiet" onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}
