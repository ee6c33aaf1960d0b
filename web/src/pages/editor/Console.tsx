import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { cancel, isUnfinished, runQuery, startRun } from '@/api/runs'
import { useMay } from '@/api/session'
import type { LogStore } from '@/log/log'
import { LogLines } from '@/log/LogLines'
import { useLog } from '@/log/useLog'
import type { Run } from '@/api/types'
import { Button } from '@/ui/Button'
import { Failed } from '@/ui/states'
import { Approval } from './Approval'
import styles from './Editor.module.css'
import { Output } from './Output'
import { placeOf, plain } from './lines'
import { RunBadge } from '@/ui/RunBadge'

interface Props {
  workspace: string
  run: string | undefined
  onRun: (run: Run) => void
  /** Saves what was typed, and tells whether all of it is saved. */
  save: () => Promise<boolean>
  onPlace: (file: string, line: number) => void
  /** Why what is here can't be applied; undefined where it can. */
  planOnly: string | undefined
}

/** Console has Plan and Apply, the log of the run as it comes, and beside it what came out. */
export function Console({ workspace, run: id, onRun, save, onPlace, planOnly }: Props) {
  const may = useMay()
  const client = useQueryClient()
  const run = useQuery({ ...runQuery(id ?? ''), enabled: id !== undefined }).data
  // The question opens by itself when the plan waits for it, and stays away once it was put aside.
  const [aside, setAside] = useState<string>()
  const [unsaved, setUnsaved] = useState(false)
  const start = useMutation({
    mutationFn: async (kind: 'plan' | 'apply') => {
      const saved = await save()
      setUnsaved(!saved)
      return saved ? startRun(workspace, kind, '') : null
    },
    onSuccess: (made) => {
      if (!made) return
      client.setQueryData(['run', made.id], made)
      onRun(made)
    },
  })
  const stop = useMutation({ mutationFn: () => cancel(id!, 'soft', ''), onSuccess: (changed) => client.setQueryData(['run', id], changed) })
  const going = run !== undefined && isUnfinished(run.status)
  const applies = run !== undefined && ['confirmed', 'applying', 'orphaned'].includes(run.status)
  const applied = run?.applied_at !== undefined || (run?.kind !== 'plan' && run?.status === 'succeeded' && run.version_after !== undefined)
  const { log } = useLog(id, applies || applied ? 'apply' : 'plan')

  const waits = run?.status === 'awaiting_approval'
  return (
    <section className={styles.console} aria-label="Console">
      <div className={styles.consoleHead}>
        {may('run:plan') ? <Button busy={start.isPending || going} onClick={() => { start.mutate('plan') }}>Plan</Button> : null}
        {may('run:apply') ? <Button kind="main" busy={start.isPending || going} disabled={planOnly !== undefined || start.isPending || going} title={planOnly} onClick={() => { start.mutate('apply') }}>Apply</Button> : null}
        {waits ? <Button kind="main" onClick={() => { setAside(undefined) }}>Review</Button> : null}
        {going && !waits && may('run:cancel') ? <Button kind="loss" busy={stop.isPending || run.cancel !== undefined} onClick={() => { stop.mutate() }}>Cancel</Button> : null}
        {run ? (
          <span className={styles.consoleRun} role="status">
            <RunBadge run={run} /> <Link to="/runs/$id" params={{ id: run.id }} reloadDocument>{run.kind} {run.id.slice(-6)}</Link>
            {run.reason ? <span className="muted" title={run.reason}>{run.reason}</span> : null}
          </span>
        ) : (
          <span className="muted">Plan shows what would change; nothing is done before somebody says yes.</span>
        )}
      </div>
      {start.error || stop.error ? <Failed error={start.error ?? stop.error} /> : null}
      {unsaved ? <p role="alert" className={styles.consoleNote}>Not everything is saved. Look at the marked files, then try again.</p> : null}
      <div className={styles.consoleBody}>
        <Log log={log} onPlace={onPlace} />
        {run ? <Output run={run} onPlace={onPlace} /> : null}
      </div>
      {run?.pin && waits && aside !== id ? <Approval run={run} pin={run.pin} onClose={() => { setAside(id) }} /> : null}
    </section>
  )
}

/** Log shows lines as text; where one names a file and its line, that is a button. */
function Log({ log, onPlace }: { log: LogStore; onPlace: (file: string, line: number) => void }) {
  const [following, setFollowing] = useState(true)
  return (
    <LogLines
      log={log}
      label="Log of the run"
      role="log"
      className={styles.log}
      following={following}
      onFollowing={setFollowing}
      line={(index) => <Line raw={log.lines[index]!} onPlace={onPlace} />}
    />
  )
}

/** Line is one line, without colours. */
function Line({ raw, onPlace }: { raw: string; onPlace: (file: string, line: number) => void }) {
  const line = plain(raw)
  const place = placeOf(line)
  if (!place) return line
  return (
    <>
      {line.slice(0, place.at)}
      <button type="button" className={styles.place} onClick={() => { onPlace(place.file, place.line) }}>{line.slice(place.at, place.end)}</button>
      {line.slice(place.end)}
    </>
  )
}
