import { Link } from '@tanstack/react-router'
import { Badge } from '@/ui/Badge'
import type { Column } from '@/ui/Table'
import { Time } from '@/ui/Time'
import styles from './StatesPage.module.css'
import type { Entry, Row } from './tree'

/** Turning opens and closes folders, and reads more of one. */
export interface Turning {
  turn: (path: string, open: boolean) => void
  more: (path: string) => void
}

/** columns are those of the tree. */
export function columns(turning: Turning, drifted: ReadonlySet<string>): Column<Row>[] {
  const of = (show: (entry: Entry) => React.ReactNode) => (row: Row) => (row.kind === 'entry' ? show(row.entry) : null)
  return [
    { title: 'Name', cell: (row) => <Name row={row} turning={turning} /> },
    { title: 'Status', width: '9.5rem', cell: of((entry) => <Status entry={entry} drifted={drifted.has(entry.name)} />) },
    { title: 'Version', width: '4.75rem', align: 'right', cell: of(({ state }) => state?.version?.version), secondary: true },
    { title: 'Resources', width: '6rem', align: 'right', cell: of(({ state }) => state?.version?.resources?.toLocaleString()), secondary: true },
    { title: 'Last change', width: '6.75rem', cell: of(({ state }) => (state?.version ? <Time at={state.version.created_at} /> : null)) },
    { title: 'By', width: '8rem', cell: of(({ state }) => state?.version && (state.version.who ?? state.version.key_name ?? state.version.key_id)), secondary: true },
    { title: 'Lock', width: '9rem', cell: of(({ state }) => state?.lock && <span title={state.lock.who}>{state.lock.who || state.lock.key_id}, <Time at={state.lock.since} /></span>), secondary: true },
  ]
}

function Name({ row, turning }: { row: Row; turning: Turning }) {
  const indent = { paddingInlineStart: `${String(row.depth * 20)}px` }
  switch (row.kind) {
    case 'folder':
      return (
        <span style={indent}>
          <button type="button" className={styles.folder} aria-expanded={row.open} onClick={() => { turning.turn(row.path, !row.open) }}>
            <span aria-hidden="true">{row.open ? '▾' : '▸'}</span> {row.label} <span className="muted">{row.inside}</span>
          </button>
        </span>
      )
    case 'more':
      return (
        <span style={indent} className={styles.entry}>
          {row.reads ? <span className="muted" role="status">Reading…</span> : <button type="button" className={styles.more} onClick={() => { turning.more(row.path) }}>Show more</button>}
        </span>
      )
    case 'entry':
      return (
        <span style={indent} className={styles.entry}>
          <Link to="/states/$" params={{ _splat: row.entry.name }} title={row.entry.name}>
            {row.label}
          </Link>
        </span>
      )
  }
}

function Status({ entry: { state, workspace }, drifted }: { entry: Entry; drifted: boolean }) {
  if (state?.deleted_at) return <Badge tone="still">deleted</Badge>
  if (state && state.open_candidates > 0) return <Badge tone="person">{state.open_candidates} kept back</Badge>
  if (drifted) return <Badge tone="person">drifted</Badge>
  if (state?.lock) return <Badge tone="going">locked</Badge>
  if (!state?.version) return <Badge tone="still">{workspace ? 'never applied' : 'never written'}</Badge>
  return <Badge tone="done">stored</Badge>
}
