import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useMemo, useState } from 'react'
import { workspacesQuery } from '@/api/runs'
import { useMay } from '@/api/session'
import { statesQuery } from '@/api/states'
import { count } from '@/lib/size'
import { Choice } from '@/ui/Field'
import { Page } from '@/ui/Page'
import { Await, Empty } from '@/ui/states'
import { Table } from '@/ui/Table'
import { columns } from './columns'
import { matches, type Only } from './filter'
import { statesRoute } from './route'
import styles from './StatesPage.module.css'
import { entriesOf, rowsOf } from './tree'

/** StatesPage is the tree of all states and workspaces. */
export function StatesPage() {
  const { q = '', only = 'all' } = statesRoute.useSearch()
  const navigate = useNavigate({ from: statesRoute.fullPath })
  const may = useMay()
  const states = useQuery(statesQuery)
  const workspaces = useQuery({ ...workspacesQuery, enabled: may('workspace:read'), retry: false })
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const wanted = useDeferredValue(q)

  const all = useMemo(() => entriesOf(states.data ?? [], workspaces.data ?? []), [states.data, workspaces.data])
  const found = useMemo(() => all.filter((entry) => matches(entry, wanted, only as Only)), [all, wanted, only])
  const rows = useMemo(() => rowsOf(found, closed), [found, closed])
  const toggle = (path: string) => {
    const next = new Set(closed)
    if (!next.delete(path)) next.add(path)
    setClosed(next)
  }
  return (
    <Page title="States" name="States" line={states.data ? line(all.length, found.length) : 'What your configurations have made, by name'}>
      <div className={styles.filters}>
        <input
          type="search"
          aria-label="Filter by name"
          placeholder="Filter by name"
          value={q}
          onChange={(event) => void navigate({ search: (was) => ({ ...was, q: event.target.value }), replace: true })}
        />
        <Choice label="Show" value={only} onChange={(event) => void navigate({ search: (was) => ({ ...was, only: event.target.value }), replace: true })}>
          <option value="all">all</option>
          <option value="locked">locked</option>
          <option value="held">with kept-back writes</option>
          <option value="empty">never written</option>
        </Choice>
      </div>
      <Await query={states} what="states">
        {() =>
          rows.length > 0 ? (
            <Table label="States" columns={columns(toggle)} rows={rows} rowKey={(row) => (row.kind === 'folder' ? row.path : row.entry.name)} />
          ) : (
            <Nothing any={all.length > 0} />
          )
        }
      </Await>
    </Page>
  )
}

function line(all: number, found: number): string {
  return found === all ? count(all, 'state') : `${found.toLocaleString()} of ${count(all, 'state')}`
}

function Nothing({ any }: { any: boolean }) {
  if (any) {
    return (
      <Empty title="No state passes the filter.">
        <Link to="/states">Show all states</Link>
      </Empty>
    )
  }
  return (
    <Empty title="There is no state yet.">
      A state is made by the first write: point the <code>http</code> backend of a configuration at this server and run{' '}
      <code>tofu init</code>.
    </Empty>
  )
}
