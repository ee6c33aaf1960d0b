import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { runEventsQuery, snapshotQuery } from '@/api/runs'
import type { Run, RunEvent } from '@/api/types'
import { commitOf } from '@/pages/layer/chain'
import { actorOf } from '@/pages/runs/RunTable'
import { Badge } from '@/ui/Badge'
import { Copyable } from '@/ui/Copyable'
import { Facts } from '@/ui/Facts'
import { Await } from '@/ui/states'
import { Table, type Column } from '@/ui/Table'
import { Time } from '@/ui/Time'
import styles from './RunPage.module.css'

/** About is what the run was made of, and who decided what. */
export function About({ run }: { run: Run }) {
  const snapshot = useQuery(snapshotQuery(run.workspace, run.snapshot)).data
  const { pin } = run
  const from = commitOf(snapshot?.message)
  return (
    <Facts
      facts={[
        ['Asked for by', <>{actorOf(run.trigger)}, <Time at={run.created_at} /></>],
        ['Message', run.message],
        ['Configuration', snapshot ? <>number {snapshot.number}{snapshot.message ? `, “${snapshot.message}”` : ''}</> : <Copyable value={run.snapshot} short={run.snapshot.slice(0, 12)} label="configuration" />],
        ['Commit', from && <><Copyable value={from.commit} short={from.commit.slice(0, 12)} label="commit" /> of <Link to="/layers" search={{ tab: 'repositories' }}>{from.repository}</Link></>],
        ['Layer', from && <Link to="/layers/$" params={{ _splat: run.workspace }} search={{ tab: 'commits' }}>{run.workspace}</Link>],
        ['Planned on', pin && <Link to="/states/$" params={{ _splat: run.workspace }} search={pin.state.version ? { version: pin.state.version } : {}}>{pin.state.version ? `version ${String(pin.state.version)}` : 'no state'}</Link>],
        ['State after', run.version_after ? <Link to="/states/$" params={{ _splat: run.workspace }} search={{ version: run.version_after }}>version {run.version_after}</Link> : undefined],
        ['Tool', pin && `${pin.tool.name} ${pin.tool.version}`],
        ['Plan digest', pin && <Copyable value={pin.digest} short={pin.digest.slice(0, 12)} label="plan digest" />],
        ['Executor', run.executor && `${run.executor.name ?? run.executor.agent}${run.executor.sandbox ? `, sandbox ${run.executor.sandbox.level}, network ${run.executor.sandbox.network}` : ''}`],
        ['Only', run.targets?.join(', ')],
        ['Replacing', run.replace?.join(', ')],
        ['Again after', run.retry_of && <RunLink id={run.retry_of} />],
        ['Made behind', run.follows && <RunLink id={run.follows} />],
        ['Followed by', run.followed_by && <RunLink id={run.followed_by} />],
        ['Run', <Copyable value={run.id} label="run ID" />],
      ]}
    />
  )
}

function RunLink({ id }: { id: string }) {
  return <Link to="/runs/$id" params={{ id }}>run …{id.slice(-8)}</Link>
}

/** Decisions lists who approved or denied the plan, when and why. */
export function Decisions({ run }: { run: Run }) {
  const needed = run.approvals_needed ?? 0
  const decided = run.approvals ?? []
  if (decided.length === 0 && needed === 0) return null
  return (
    <ul aria-label="Decisions" className={styles.decisions}>
      {needed > 0 ? <li className="muted">{decided.filter(({ approved }) => approved).length} of {needed} approvals</li> : null}
      {decided.map((one) => (
        <li key={one.by.key_id + one.at}>
          <Badge tone={one.approved ? 'done' : 'loss'}>{one.approved ? 'approved' : 'denied'}</Badge> by {actorOf(one.by)} <Time at={one.at} />
          {one.reason ? `: “${one.reason}”` : ''}
        </li>
      ))}
    </ul>
  )
}

/** Events lists what happened to the run. */
export function Events({ run }: { run: Run }) {
  const query = useQuery(runEventsQuery(run.id))
  return (
    <Await query={query} what="events">
      {(events) => <Table label="Events" columns={columns} rows={events} rowKey={({ sequence }) => String(sequence)} keys={false} />}
    </Await>
  )
}

const columns: Column<RunEvent>[] = [
  { title: 'When', width: '7rem', cell: ({ at }) => <Time at={at} /> },
  { title: 'What', width: '12rem', cell: ({ type }) => type },
  { title: 'Status', width: '18rem', cell: ({ from, to }) => (to && from !== to ? `${from ?? ''} → ${to}` : to), secondary: true },
  { title: 'By', width: '10rem', cell: ({ by }) => by.subject || by.key_name || by.key_id, secondary: true },
  { title: 'Note', cell: ({ note }) => <span title={note}>{note}</span> },
]
