import { Link } from '@tanstack/react-router'
import type { AuditEvent } from '@/api/types'
import { Badge } from '@/ui/Badge'
import type { Column } from '@/ui/Table'
import { Time } from '@/ui/Time'
import { piecesOf, wordsOf } from './actions'

/** The columns of the audit log. What an event names is a link: the action, the state, its version, the key, the run. */
export const columns: Column<AuditEvent>[] = [
  { title: 'When', width: '6.5rem', cell: ({ at }) => <Time at={at} /> },
  { title: 'Who', width: '13%', cell: (event) => <Who event={event} /> },
  { title: 'Action', width: '16%', cell: (event) => <Action event={event} /> },
  { title: 'State', width: '18%', cell: (event) => <StateLink event={event} /> },
  { title: 'Why', cell: (event) => <Why event={event} />, secondary: true },
  { title: 'From', width: '8.5rem', cell: ({ address }) => address, secondary: true },
  { title: 'Request', width: '7rem', cell: ({ request_id: id }) => (id ? <code title={id}>{id.slice(0, 8)}</code> : null), secondary: true },
]

function Who({ event }: { event: AuditEvent }) {
  const name = event.subject ?? event.key_name ?? event.key_id
  const title = [event.key_id, event.key_name, event.subject, event.role].filter(Boolean).join(' · ')
  if (event.key_id.startsWith('run.')) {
    return (
      <Link to="/runs/$id" params={{ id: event.key_id.slice('run.'.length) }} title={title}>
        a run
      </Link>
    )
  }
  return (
    <Link to="/audit" search={{ key: event.key_id }} title={title}>
      {name === '' ? event.key_id : name}
    </Link>
  )
}

function Action({ event }: { event: AuditEvent }) {
  if (event.refused) {
    return (
      <span title={`${wordsOf(event.action)}: ${event.refused}`}>
        <Badge tone="loss">refused</Badge> <span className="muted">{event.action}</span>
      </span>
    )
  }
  return <span title={wordsOf(event.action)}>{event.action}</span>
}

function StateLink({ event }: { event: AuditEvent }) {
  if (!event.state) return null
  return (
    <>
      <Link to="/states/$" params={{ _splat: event.state }} title={event.state}>{event.state}</Link>
      {event.version ? <Link to="/states/$" params={{ _splat: event.state }} search={{ version: event.version }}> version {event.version}</Link> : null}
    </>
  )
}

function Why({ event }: { event: AuditEvent }) {
  const text = [event.refused, event.reason, event.note].filter(Boolean).join(' · ')
  return (
    <span title={text}>
      {event.refused ? <code>{event.refused}</code> : null}
      {event.refused && (event.reason || event.note) ? ' · ' : null}
      {event.reason ? <q>{event.reason}</q> : null}
      {event.reason && event.note ? ' · ' : null}
      {piecesOf(event.note ?? '').map((piece, index) =>
        'run' in piece ? (
          <Link key={index} to="/runs/$id" params={{ id: piece.run }}><code>{piece.run}</code></Link>
        ) : (
          <span key={index}>{piece.text}</span>
        ),
      )}
    </span>
  )
}
