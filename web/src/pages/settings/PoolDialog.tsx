import { useState, type SyntheticEvent } from 'react'
import type { Pool } from '@/api/types'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { Field } from '@/ui/Field'
import { Failed } from '@/ui/states'
import { wordsIn } from './keys'
import styles from './Settings.module.css'

/** PoolDialog asks for a new pool, or for what one that is there is to serve. */
export function PoolDialog({ pool, busy, error, onDone, onClose }: { pool?: Pool; busy: boolean; error: unknown; onDone: (name: string, workspaces: string[]) => void; onClose: () => void }) {
  const [name, setName] = useState(pool?.name ?? '')
  const [workspaces, setWorkspaces] = useState(pool?.workspaces?.join(' ') ?? '')
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    onDone(name.trim(), wordsIn(workspaces))
  }
  return (
    <Dialog title={pool ? `What ${pool.name} serves` : 'Make a pool'} open onClose={onClose}>
      <form className={styles.dialog} onSubmit={submit}>
        {pool ? null : <Field label="Name" required value={name} onChange={({ target }) => { setName(target.value) }} autoComplete="off" spellCheck={false} />}
        <Field label="Workspaces" value={workspaces} onChange={({ target }) => { setWorkspaces(target.value) }} help="Patterns such as prod/*, with spaces between; every workspace without any." autoComplete="off" spellCheck={false} />
        {error ? <Failed error={error} /> : null}
        <div className={styles.buttons}>
          <Button kind="main" type="submit" busy={busy}>{pool ? 'Change it' : 'Make it'}</Button>
          <Button kind="quiet" onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}
