import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import { useMay } from '@/api/session'
import { releaseLock } from '@/api/states'
import type { Lock } from '@/api/types'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Copyable } from '@/ui/Copyable'
import { Reason } from '@/ui/Reason'
import { Time } from '@/ui/Time'
import { useChanged } from './changed'
import styles from './StatePage.module.css'

/** LockPanel says who holds the lock, since when, and when they were last seen; who may can release it. */
export function LockPanel({ name, lock }: { name: string; lock: Lock }) {
  const may = useMay()
  const changed = useChanged(name)
  const [open, setOpen] = useState(false)
  const who = lock.who || lock.key_id
  return (
    <section className={styles.lock} aria-label="Lock">
      <p>
        <Badge tone="person">locked</Badge> by <strong>{who}</strong>
        {lock.run ? (
          <>
            {' for '}
            <Link to="/runs/$id" params={{ id: lock.run }}>run …{lock.run.slice(-6)}</Link>
          </>
        ) : null}
        {lock.operation === '' ? '' : ` for ${lock.operation.replace('OperationType', '').toLowerCase()}`}, since <Time at={lock.since} />, last sign <Time at={lock.last_seen} />
        {' · '}
        <Copyable value={lock.id} short={lock.id.slice(0, 8)} label="lock ID" />
      </p>
      {may('state:unlock') ? <Button kind="loss" onClick={() => { setOpen(true) }}>Release…</Button> : null}
      <Reason
        title={`Release the lock of ${name}`}
        open={open}
        onClose={() => { setOpen(false) }}
        does="Release"
        loss
        typed={name}
        act={async (reason) => {
          await releaseLock(name, reason)
          await changed()
        }}
      >
        <p>
          {who} may still be at work. What they write after this is refused, and kept nowhere here: their client leaves it in <code>errored.tfstate</code>.
        </p>
      </Reason>
    </section>
  )
}
