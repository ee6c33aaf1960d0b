import { useQuery } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import { RequestFailure } from '@/api/failure'
import { identityQuery } from '@/api/session'
import type { OrganizationSettings } from '@/api/types'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { Choice, Field } from '@/ui/Field'
import { Failed } from '@/ui/states'
import { changesOf, inWords, keepsLess, kindOf, valuesOf } from './kept'
import styles from './Settings.module.css'

interface Props {
  /** What the settings were when somebody began to change them, and what they are by now. */
  base: OrganizationSettings
  now: OrganizationSettings
  busy: boolean
  error: unknown
  onChange: (version: string, changes: { name: string; value: string }[]) => void
  onClose: () => void
}

/** KeptDialog changes how states are kept. What somebody else has changed meanwhile stands beside one's own values. */
export function KeptDialog({ base, now, busy, error, onChange, onClose }: Props) {
  const identity = useQuery(identityQuery).data
  const [values, setValues] = useState(valuesOf(base.settings))
  const [read, setRead] = useState(base) // what the reader has seen
  const [typed, setTyped] = useState('')
  const conflict = error instanceof RequestFailure && error.code === 'settings_changed'
  const moved = conflict && now.version !== read.version
  // Only what the reader has changed is sent: what somebody else has changed beside it stays.
  const changes = changesOf(base.settings, values)
  const less = keepsLess(now.settings, changes)
  const name = identity?.org_name || identity?.org_id || ''
  const theirs = (of: string) => {
    const is = now.settings.find((one) => one.name === of)
    const was = base.settings.find((one) => one.name === of)
    return is !== undefined && is.value !== was?.value ? `Somebody else has made it ${inWords(is)} meanwhile. ` : ''
  }
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (changes.length > 0 && (!less || typed === name)) onChange(read.version, changes)
  }
  return (
    <Dialog title="How states are kept" open onClose={onClose}>
      <form className={styles.dialog} onSubmit={submit}>
        {base.settings.map((one) => {
          const { label, choices, means, write } = kindOf(one.name)
          const field = { label, value: values[one.name] ?? '', onChange: ({ target }: { target: { value: string } }) => { setValues({ ...values, [one.name]: target.value }) } }
          if (choices === undefined) return <Field key={one.name} {...field} help={`${theirs(one.name)}${write ?? means} Empty for the default, ${one.default}.`} autoComplete="off" spellCheck={false} />
          return (
            <div key={one.name}>
              <Choice {...field}>
                {choices.map(([value]) => (
                  <option key={value} value={value}>{inWords({ name: one.name, value })}</option>
                ))}
              </Choice>
              {theirs(one.name) === '' ? null : <small className="muted">{theirs(one.name)}</small>}
            </div>
          )
        })}
        {less ? (
          <>
            <p>
              This keeps less than before. What is no longer kept is removed within an hour of every state that no section says otherwise of, and can’t be brought back; the newest version of a state always stays.
            </p>
            <Field label={`Type ${name} to go on`} value={typed} onChange={({ target }) => { setTyped(target.value) }} autoComplete="off" spellCheck={false} />
          </>
        ) : null}
        {error && (moved || !conflict || read === base) ? <Failed error={error} /> : null}
        <div className={styles.buttons}>
          {moved ? (
            <Button key="seen" onClick={() => { setRead(now) }}>I have seen it</Button>
          ) : (
            // Another button, so that the click on the one before it does not send the form.
            <Button key="change" kind={less ? 'loss' : 'main'} type="submit" busy={busy} disabled={busy || changes.length === 0 || (less && typed !== name)}>Change it</Button>
          )}
          <Button kind="quiet" onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}
