import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { homeQuery } from '@/api/home'
import { workspacesQuery } from '@/api/runs'
import { useMay } from '@/api/session'
import { foundQuery, lockedQuery } from '@/api/states'
import type { Workspace } from '@/api/types'
import { turned, turnedOf } from '@/lib/search'
import { count } from '@/lib/size'
import { Choice } from '@/ui/Field'
import { FilterText } from '@/ui/Filters'
import { Page } from '@/ui/Page'
import { Await, Empty, Failed, Skeleton } from '@/ui/states'
import { Table } from '@/ui/Table'
import { columns, type Turning } from './columns'
import { foundEntries, type Only } from './filter'
import { statesRoute } from './route'
import styles from './StatesPage.module.css'
import type { Row } from './tree'
import { useTree } from './useTree'

const none: Workspace[] = []

/** StatesPage is the tree of all states and workspaces; with a filter, a list of those that pass it. */
export function StatesPage() {
  const { q = '', only = 'all' } = statesRoute.useSearch()
  const navigate = useNavigate({ from: statesRoute.fullPath })
  const may = useMay()
  const workspaces = useQuery({ ...workspacesQuery, enabled: may('workspace:read'), retry: false }).data ?? none
  const home = useQuery({ ...homeQuery, enabled: may('run:read') }).data
  const drifted = useMemo(() => new Set(home?.runs?.drifted), [home])
  const states = home?.states
  return (
    <Page title="States" name="States" line={states ? `${states.more ? 'More than ' : ''}${count(states.count, 'state')}, by name` : 'What your configurations have made, by name'}>
      <div className={styles.filters}>
        <FilterText wide label="Filter by name" value={q} onChange={(text) => void navigate({ search: (was) => ({ ...was, q: text }), replace: true })} />
        <Choice label="Show" value={only} onChange={(event) => void navigate({ search: (was) => ({ ...was, only: event.target.value }), replace: true })}>
          <option value="all">all</option>
          <option value="locked">locked</option>
          <option value="held">with kept-back writes</option>
          <option value="empty">never written</option>
          <option value="deleted">deleted</option>
        </Choice>
      </div>
      {q === '' && only === 'all' ? <Tree workspaces={workspaces} drifted={drifted} /> : <Found q={q} only={only as Only} workspaces={workspaces} drifted={drifted} />}
    </Page>
  )
}

function keyOf(row: Row): string {
  return row.kind === 'entry' ? row.entry.name : `${row.kind} ${row.path}`
}

function Tree({ workspaces, drifted }: { workspaces: Workspace[]; drifted: ReadonlySet<string> }) {
  const search = statesRoute.useSearch()
  const navigate = useNavigate({ from: statesRoute.fullPath })
  const tree = useTree(workspaces, turnedOf(search))
  const turn = (path: string, open: boolean) =>
    void navigate({ search: (was) => ({ ...was, ...turned(was, path, open) }), replace: true, resetScroll: false })
  if (tree.error) return <Failed error={tree.error} again={tree.again} />
  if (tree.isPending) return <Skeleton what="states" />
  if (tree.rows.length === 0) {
    return (
      <Empty title="There is no state yet.">
        A state is made by the first write: point the <code>http</code> backend of a configuration at this server and run{' '}
        <code>tofu init</code>.
      </Empty>
    )
  }
  return <Table label="States" columns={columns({ turn, more: tree.more }, drifted)} rows={tree.rows} rowKey={keyOf} />
}

const still: Turning = { turn: () => undefined, more: () => undefined }

function Found({ q, only, workspaces, drifted }: { q: string; only: Only; workspaces: Workspace[]; drifted: ReadonlySet<string> }) {
  // The longest word is what the server looks for; the others are looked for in what it finds.
  const words = q.toLowerCase().split(/\s+/).filter(Boolean).sort((a, b) => b.length - a.length)
  const found = useInfiniteQuery({ ...foundQuery({ contains: words[0], held: only === 'held' || undefined, deleted: only === 'deleted' ? 'true' : undefined }), enabled: only !== 'locked' })
  const locked = useInfiniteQuery({ ...lockedQuery, enabled: only === 'locked' })
  const query = only === 'locked' ? locked : found
  const states = query.data?.pages.flatMap((page) => page.states) ?? []
  const rows = foundEntries(states, workspaces, words, only).map((entry): Row => ({ kind: 'entry', label: entry.name, depth: 0, entry }))
  const next = query.hasNextPage && !query.isFetchingNextPage ? () => void query.fetchNextPage() : undefined
  return (
    <Await query={query} what="states">
      {() =>
        rows.length > 0 || query.hasNextPage ? (
          <Table label="States" columns={columns(still, drifted)} rows={rows} rowKey={keyOf} onEnd={next} />
        ) : (
          <Empty title="No state passes the filter.">
            <Link to="/states">Show all states</Link>
          </Empty>
        )
      }
    </Await>
  )
}
