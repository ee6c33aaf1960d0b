import { Link } from '@tanstack/react-router'
import { Badge } from '@/ui/Badge'
import type { Column } from '@/ui/Table'
import { Time } from '@/ui/Time'
import styles from './StatesPage.module.css'
import type { Entry, Row } from './tree'

/** columns are those of the tree; toggle opens and closes a folder. */
export function columns(toggle: (path: string) => void): Column<Row>[] {
  const of = (show: (entry: Entry) => React.ReactNode) => (row: Row) => (row.kind === 'entry' ? show(row.entry) : null)
  return [
    { title: 'Name', cell: (row) => <Name row={row} toggle={toggle} /> },
    { title: 'Status', width: '11rem', cell: of((entry) => <Status entry={entry} />) },
    { title: 'Version', width: '5rem', align: 'right', cell: of(({ state }) => state?.version?.version), secondary: true },
    { title: 'Resources', width: '6rem', align: 'right', cell: of(({ state }) => state?.version?.resources?.toLocaleString()), secondary: true },
    { title: 'Last change', width: '7rem', cell: of(({ state }) => (state?.version ? <Time at={state.version.created_at} /> : null)) },
    { title: 'By', width: '10rem', cell: of(({ state }) => state?.version && (state.version.who ?? state.version.key_name ?? state.version.key_id)), secondary: true },
    { title: 'Lock', width: '14rem', cell: of(({ state }) => state?.lock && <span title={state.lock.who}>{state.lock.who || state.lock.key_id}, <Time at={state.lock.since} /></span>), secondary: true },
  ]
}

function Name({ row, toggle }: { row: Row; toggle: (path: string) => void }) {
  const indent = { paddingInlineStart: `${String(row.depth * 20)}px` }
  if (row.kind === 'folder') {
    return (
      <span style={indent}>
        <button type="button" className={styles.folder} aria-expanded={row.open} onClick={() => { toggle(row.path) }}>
          <span aria-hidden="true">{row.open ? '▾' : '▸'}</span> {row.label} <span className="muted">{row.inside}</span>
        </button>
      </span>
    )
  }
  return (
    <span style={indent} className={styles.entry}>
      <Link to="/states/$" params={{ _splat: row.entry.name }} title={row.entry.name}>
        {row.label}
      </Link>
    </span>
  )
}

function Status({ entry: { state, workspace } }: { entry: Entry }) {
  if (state && state.open_candidates > 0) return <Badge tone="person">{state.open_candidates} kept back</Badge>
  if (state?.lock) return <Badge tone="going">locked</Badge>
  if (!state?.version) return <Badge tone="still">{workspace ? 'never applied' : 'never written'}</Badge>
  return <Badge tone="done">stored</Badge>
}
