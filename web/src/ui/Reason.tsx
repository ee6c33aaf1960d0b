import { useMutation } from '@tanstack/react-query'
import { useState, type ReactNode, type SyntheticEvent } from 'react'
import { Button } from './Button'
import { Dialog } from './Dialog'
import { Field, TextField } from './Field'
import styles from './Reason.module.css'
import { Failed } from './states'

interface Props {
  title: string
  open: boolean
  onClose: () => void
  /** What is done with the reason; the dialog closes when it is done. */
  act: (reason: string) => Promise<unknown>
  does: string
  loss?: boolean
  optional?: boolean
  /** What is done takes no reason: it is asked whether, and not why. */
  unasked?: boolean
  /** A name that has to be typed before anything is done. */
  typed?: string
  wide?: boolean
  children?: ReactNode
}

/** Reason asks why, or just whether, then does it. What takes something away is grey until its name is typed. */
export function Reason({ title, open, onClose, act, does, loss = false, optional = false, unasked = false, typed, wide = false, children }: Props) {
  const [reason, setReason] = useState('')
  const [name, setName] = useState('')
  const doing = useMutation({
    mutationFn: () => act(reason.trim()),
    onSuccess: () => {
      setReason('')
      setName('')
      onClose()
    },
  })
  const ready = (optional || unasked || reason.trim() !== '') && (typed === undefined || name === typed)
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (ready) doing.mutate()
  }
  return (
    <Dialog title={title} open={open} onClose={onClose} wide={wide}>
      <form className={styles.form} onSubmit={submit}>
        {children}
        {unasked ? null : <TextField label={optional ? 'Reason, if you like' : 'Reason'} maxLength={1000} required={!optional} value={reason} onChange={(event) => { setReason(event.target.value) }} help="It is recorded in the audit log." />}
        {typed === undefined ? null : <Field label={`Type ${typed} to go on`} value={name} onChange={(event) => { setName(event.target.value) }} autoComplete="off" />}
        {doing.error ? <Failed error={doing.error} /> : null}
        <div className={styles.actions}>
          <Button onClick={onClose}>Back</Button>
          <Button kind={loss ? 'loss' : 'main'} type="submit" disabled={!ready} busy={doing.isPending}>
            {does}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
