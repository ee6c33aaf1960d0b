import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useId, useState } from 'react'
import { approve, breakGlass, cancel, deny, discardRun, insightQuery, isUnfinished, mayApprove, mayBreakGlass, refusalOf, resolve, retry } from '@/api/runs'
import { useMay } from '@/api/session'
import type { Run } from '@/api/types'
import { Button } from '@/ui/Button'
import { useShortcuts } from '@/ui/keys'
import { Reason } from '@/ui/Reason'
import { Failed, Skeleton } from '@/ui/states'
import { Time } from '@/ui/Time'
import { countsOf } from '@/pages/runs/RunTable'
import styles from './RunPage.module.css'

const Brief = lazy(() => import('@/insight/Brief'))

type Doing = 'approve' | 'glass' | 'deny' | 'cancel' | 'kill' | 'discard' | 'resolve'

/** Actions is what can be done with a run now, by who is signed in. */
export function Actions({ run }: { run: Run }) {
  const may = useMay()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [doing, setDoing] = useState<Doing>()
  const why = useId()
  const close = () => { setDoing(undefined) }
  const then = async (made: Run) => {
    client.setQueryData(['run', run.id], made)
    await Promise.all([client.invalidateQueries({ queryKey: ['run', run.id] }), client.invalidateQueries({ queryKey: ['runs'] })])
  }
  const again = useMutation({
    mutationFn: () => retry(run.id),
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ['runs'] })
      await navigate({ to: '/runs/$id', params: { id: made.id } })
    },
  })
  const waits = run.status === 'awaiting_approval' && run.pin !== undefined
  const decides = waits && mayApprove(run, may)
  const refused = waits ? refusalOf(run) : undefined
  const ends = isUnfinished(run.status) && run.status !== 'orphaned' && may('run:cancel')
  // What the plan means is there when it is asked whether to approve it.
  useQuery({ ...insightQuery(run), enabled: decides || (waits && mayBreakGlass(run, may)) })
  useShortcuts(decides && refused === undefined ? [{ keys: 'a', does: 'Approve the plan', run: () => { setDoing('approve') } }] : [])
  const digest = run.pin?.digest ?? ''
  return (
    <>
      {decides ? (
        <>
          <Button kind="main" disabled={refused !== undefined} aria-describedby={refused === undefined ? undefined : why} onClick={() => { setDoing('approve') }}>Approve…</Button>
          {may('run:approve') ? <Button onClick={() => { setDoing('deny') }}>Deny…</Button> : null}
        </>
      ) : null}
      {waits && mayBreakGlass(run, may) ? <Button kind="loss" onClick={() => { setDoing('glass') }}>Break the glass…</Button> : null}
      {ends && waits ? <Button onClick={() => { setDoing('discard') }}>Discard…</Button> : null}
      {ends && !waits && !run.cancel ? <Button onClick={() => { setDoing('cancel') }}>Cancel…</Button> : null}
      {ends && run.cancel?.level === 'soft' && may('state:unlock') ? <Button kind="loss" onClick={() => { setDoing('kill') }}>Kill…</Button> : null}
      {run.status === 'orphaned' && may('state:unlock') ? <Button kind="loss" onClick={() => { setDoing('resolve') }}>End it…</Button> : null}
      {!isUnfinished(run.status) && may(run.kind === 'plan' || run.kind === 'drift' ? 'run:plan' : 'run:apply') ? (
        <Button busy={again.isPending} onClick={() => { again.mutate() }}>Run again</Button>
      ) : null}
      {refused === undefined ? null : <p id={why} className={styles.refused}>{sentence(refused)}</p>}
      {again.error ? <Failed error={again.error} /> : null}
      <Reason title={`Approve ${run.workspace}: ${countsOf(run)}`} open={doing === 'approve'} onClose={close} does="Approve" optional wide act={async (reason) => then(await approve(run.id, digest, reason))}>
        <Suspense fallback={<Skeleton rows={3} what="what the plan means" />}><Brief run={run} /></Suspense>
        <p>Exactly this plan is applied{run.pin ? (run.pin.state.version > 0 ? `, on version ${String(run.pin.state.version)} of the state` : ', on no state') : ''}.</p>
      </Reason>
      <Reason title={`Apply ${run.workspace} alone: ${countsOf(run)}`} open={doing === 'glass'} onClose={close} does="Break the glass" loss wide act={async (reason) => then(await breakGlass(run.id, digest, reason))}>
        <Suspense fallback={<Skeleton rows={3} what="what the plan means" />}><Brief run={run} /></Suspense>
        <p>In an emergency your yes is enough by itself, without those of others. It is on record as that.</p>
      </Reason>
      <Reason title={`Deny ${run.workspace}: ${countsOf(run)}`} open={doing === 'deny'} onClose={close} does="Deny" loss act={async (reason) => then(await deny(run.id, digest, reason))}>
        <p>The run ends, and nothing is changed.</p>
      </Reason>
      <Reason title="Discard the plan" open={doing === 'discard'} onClose={close} does="Discard" optional act={async (reason) => then(await discardRun(run.id, reason))}>
        <p>The run ends, and nothing is changed. Another run can be asked for at any time.</p>
      </Reason>
      <Reason title="Cancel the run" open={doing === 'cancel'} onClose={close} does="Cancel it" optional act={async (reason) => then(await cancel(run.id, 'soft', reason))}>
        <p>The tool is told to stop: it finishes what it has begun, and stores the state. If it doesn’t, it can be killed after that.</p>
        <InFlight run={run} none="Nothing is in flight now." />
      </Reason>
      <Reason title="Kill the run" open={doing === 'kill'} onClose={close} does="Kill it" loss typed={run.workspace} act={async (reason) => then(await cancel(run.id, 'hard', reason))}>
        <p>What is in flight now may be made without being in the state:</p>
        <InFlight run={run} none="The server knows of nothing that is in flight." />
      </Reason>
      <Reason title="End the run" open={doing === 'resolve'} onClose={close} does="End it" loss typed={run.workspace} act={async (reason) => then(await resolve(run.id, reason))}>
        <p>Its executor was lost while it applied. What it had in flight may be made without being in the state; look at it before the next run.</p>
        <InFlight run={run} none="The server knows of nothing that was in flight." />
      </Reason>
    </>
  )
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** InFlight is what the tool has begun and not finished. */
function InFlight({ run, none }: { run: Run; none: string }) {
  const flying = run.in_flight ?? []
  if (flying.length === 0) return <p className="muted">{none}</p>
  return (
    <ul aria-label="In flight">
      {flying.map(({ address, action, since }) => (
        <li key={address}>
          <code>{address}</code> {action}, begun <Time at={since} />
        </li>
      ))}
    </ul>
  )
}
