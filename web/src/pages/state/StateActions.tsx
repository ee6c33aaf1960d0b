import { useState } from 'react'
import { useMay } from '@/api/session'
import { deleteState, undelete } from '@/api/states'
import type { State } from '@/api/types'
import { Button } from '@/ui/Button'
import { Reason } from '@/ui/Reason'
import { useChanged } from './changed'

/** StateActions takes a state away, and brings it back. */
export function StateActions({ state }: { state: State }) {
  const may = useMay()
  const changed = useChanged(state.name)
  const [doing, setDoing] = useState<'delete' | 'undelete'>()
  const close = () => { setDoing(undefined) }
  if (!may('state:write') || !state.version) return null
  return (
    <>
      {state.deleted_at ? <Button kind="main" onClick={() => { setDoing('undelete') }}>Bring back…</Button> : <Button disabled={state.lock !== null} title={state.lock ? 'Its lock is held' : undefined} onClick={() => { setDoing('delete') }}>Delete…</Button>}
      <Reason
        unasked
        title={`Delete ${state.name}`}
        open={doing === 'delete'}
        onClose={close}
        does="Delete"
        loss
        typed={state.name}
        act={async () => {
          await deleteState(state.name)
          await changed()
        }}
      >
        <p>Clients find no state there afterwards. What it describes stays as it is in the cloud. Its versions are kept, and it can be brought back until retention removes it for good.</p>
      </Reason>
      <Reason
        unasked
        title={`Bring ${state.name} back`}
        open={doing === 'undelete'}
        onClose={close}
        does="Bring back"
        act={async () => {
          await undelete(state.name)
          await changed()
        }}
      >
        <p>Version {state.version.version} is the newest again, as it was when it was deleted.</p>
      </Reason>
    </>
  )
}
