import { useState, type SyntheticEvent } from 'react'
import type { KeyWanted } from '@/api/types'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { Field } from '@/ui/Field'
import { Failed } from '@/ui/states'
import { daysFrom, rolesOf, wordsIn } from './keys'
import styles from './Settings.module.css'

const ends: [days: string, label: string][] = [['7', 'in 7 days'], ['30', 'in 30 days'], ['90', 'in 90 days'], ['365', 'in a year'], ['', 'never']]

/** MakeKey asks what a new key is to be good for. */
export function MakeKey({ busy, error, onMake, onClose }: { busy: boolean; error: unknown; onMake: (wanted: KeyWanted) => void; onClose: () => void }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState('reader')
  const [states, setStates] = useState('')
  const [from, setFrom] = useState('')
  const [days, setDays] = useState('90')
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    const patterns = wordsIn(states)
    const networks = wordsIn(from)
    onMake({
      role,
      ...(name.trim() === '' ? {} : { name: name.trim() }),
      ...(patterns.length === 0 ? {} : { states: patterns }),
      ...(networks.length === 0 ? {} : { from: networks }),
      ...(days === '' ? {} : { expires: daysFrom(new Date(), Number(days)) }),
    })
  }
  return (
    <Dialog title="Make a key" open onClose={onClose}>
      <form className={styles.dialog} onSubmit={submit}>
        <Field label="Name" value={name} onChange={({ target }) => { setName(target.value) }} help="Who or what uses it, such as ci. It is in the audit log." autoComplete="off" />
        <label className={styles.choice}>
          <span>Role</span>
          <select value={role} onChange={({ target }) => { setRole(target.value) }}>
            {rolesOf.map(([id, means]) => (
              <option key={id} value={id}>{id}: {means}</option>
            ))}
          </select>
        </label>
        <Field label="States" value={states} onChange={({ target }) => { setStates(target.value) }} help="Patterns such as prod/*, with spaces between; every state without any." autoComplete="off" spellCheck={false} />
        <Field label="From" value={from} onChange={({ target }) => { setFrom(target.value) }} help="Addresses and networks such as 10.0.0.0/8; anywhere without any." autoComplete="off" spellCheck={false} />
        <label className={styles.choice}>
          <span>Ends</span>
          <select value={days} onChange={({ target }) => { setDays(target.value) }}>
            {ends.map(([id, label]) => (
              <option key={id} value={id}>{label}</option>
            ))}
          </select>
        </label>
        {error ? <Failed error={error} /> : null}
        <div className={styles.buttons}>
          <Button kind="main" type="submit" busy={busy}>Make it</Button>
          <Button kind="quiet" onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}
