import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useId, useState } from 'react'
import { approve, deny, mayApprove, refusalOf, runChangesQuery } from '@/api/runs'
import { identityQuery, useMay } from '@/api/session'
import type { Pin, Run } from '@/api/types'
import { useMarks } from '@/insight/Marks'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { TextField } from '@/ui/Field'
import { Await, Failed, Skeleton } from '@/ui/states'
import { Counts } from '@/ui/Counts'
import { PlanChanges } from '@/ui/PlanChanges'
import styles from './Editor.module.css'

const Brief = lazy(() => import('@/insight/Brief'))

/** Approval asks whether a plan is to be applied, with what it would change. What is approved is this one plan, by its digest. */
export function Approval({ run, pin, onClose }: { run: Run; pin: Pin; onClose: () => void }) {
  const may = useMay()
  const client = useQueryClient()
  const who = useQuery(identityQuery).data
  const changes = useQuery(runChangesQuery(run.id, pin.digest))
  const beside = useMarks(run)
  const [reason, setReason] = useState('')
  const why = useId()
  const needed = run.approvals_needed ?? 0
  const gates = run.gate_reasons ?? []
  const yes = run.approvals?.filter(({ approved }) => approved) ?? []
  const mayDecide = mayApprove(run, may)
  const refused = refusalOf(run)
  const decide = useMutation({
    mutationFn: (approved: boolean) => (approved ? approve : deny)(run.id, pin.digest, reason),
    onSuccess: (changed) => {
      client.setQueryData(['run', run.id], changed)
      void client.invalidateQueries({ queryKey: ['run', run.id] })
      onClose()
    },
  })
  return (
    <Dialog title={`Apply this plan to ${run.workspace}?`} open wide onClose={onClose}>
      <div className={styles.approval}>
        <p className="muted">
          Asked for by {run.trigger.subject ?? run.trigger.key_name ?? run.trigger.key_id}
          {who?.key_id === run.trigger.key_id ? ' (you)' : ''}, made on {pin.state.version === 0 ? 'no state' : `version ${String(pin.state.version)}`}, plan <code title={pin.digest}>{pin.digest.slice(0, 12)}</code>.
          {needed > 0 ? ` ${String(yes.length)} of ${String(needed)} approvals.` : ''}
        </p>
        {pin.unchecked && pin.unchecked.length > 0 ? <p role="alert">The server could not verify: {pin.unchecked.join(', ')}.</p> : null}
        {gates.length > 0 ? <p role="alert">A gate holds this plan: {gates.map(({ reason }) => reason).join('; ')}.</p> : null}
        <Suspense fallback={<Skeleton rows={3} what="what the plan means" />}><Brief run={run} /></Suspense>
        <Await query={changes} what="the changes">{(all) => <><Counts counts={all.counts} /><PlanChanges changes={all} inside beside={beside} /></>}</Await>
        {mayDecide ? (
          <>
            <TextField label="Reason" help="It is kept with the decision; a denial needs one." value={reason} onChange={({ target }) => { setReason(target.value) }} />
            {decide.error ? <Failed error={decide.error} /> : null}
            {refused === undefined ? null : <p id={why}>A yes of yours does not count: {refused}</p>}
            <div className={styles.approvalButtons}>
              <Button kind="main" busy={decide.isPending} disabled={decide.isPending || !changes.data || refused !== undefined} aria-describedby={refused === undefined ? undefined : why} onClick={() => { decide.mutate(true) }}>
                {needed > 0 ? 'Approve' : 'Approve and apply'}
              </Button>
              {may('run:approve') ? <Button kind="loss" disabled={decide.isPending || reason.trim() === ''} onClick={() => { decide.mutate(false) }}>Deny</Button> : null}
              <Button kind="quiet" onClick={onClose}>Not now</Button>
            </div>
          </>
        ) : (
          <p>Your key may not approve{refused === undefined ? '.' : `: ${refused}`} Who may finds it under <em>Home</em> and <em>Runs</em>.</p>
        )}
      </div>
    </Dialog>
  )
}
