import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { runsQuery, type RunFilter } from '@/api/runs'
import type { Run } from '@/api/types'
import { countsText } from '@/ui/Counts'
import { RunBadge } from '@/ui/RunBadge'
import { Await, Empty } from '@/ui/states'
import { Table, type Column } from '@/ui/Table'
import { Time } from '@/ui/Time'

/** actorOf is who did something, as people call them. */
export function actorOf(actor: Run['trigger']): string {
  return actor.subject || actor.key_name || actor.key_id
}

/** countsOf is what a run's plan would do, as the tools write it. */
export function countsOf(run: Run): string {
  return countsText(run.counts)
}

/** RunTable lists runs, the newest first: the first few, or without a limit older ones as one scrolls. */
export function RunTable({ filter, limit }: { filter: RunFilter; limit?: number }) {
  const query = useInfiniteQuery(runsQuery(filter, limit))
  const more = limit === undefined && query.hasNextPage && !query.isFetchingNextPage ? () => void query.fetchNextPage() : undefined
  // A key that sees some states only may find none of its runs among the newest ones.
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = query
  const none = query.data?.pages.every((page) => page.runs.length === 0) ?? false
  const looksOn = none && hasNextPage && !isError
  useEffect(() => {
    if (looksOn && !isFetchingNextPage) void fetchNextPage()
  }, [looksOn, isFetchingNextPage, fetchNextPage])
  return (
    <Await query={query} what="runs">
      {({ pages }) => {
        if (looksOn) return <p className="muted" role="status">Looking at older runs…</p>
        const rows = pages.flatMap((page) => page.runs).slice(0, limit)
        return <RunRows rows={rows} filtered={Object.keys(filter).length > 0} onEnd={more} />
      }}
    </Await>
  )
}

/** RunRows is a table of runs that are known. */
export function RunRows({ rows, filtered, onEnd }: { rows: Run[]; filtered: boolean; onEnd?: (() => void) | undefined }) {
  if (rows.length === 0) return <NoRuns filtered={filtered} />
  return <Table label="Runs" columns={runColumns} rows={rows} rowKey={({ id }) => id} onEnd={onEnd} />
}

function NoRuns({ filtered }: { filtered: boolean }) {
  if (filtered) return <Empty title="No run passes the filter.">Runs that were deleted by retention are not here.</Empty>
  return (
    <Empty title="There is no run yet.">
      <code>holdfast workspace create NAME</code> makes a workspace, <code>holdfast run plan NAME</code> plans it; so does the editor.
    </Empty>
  )
}

export const runColumns: Column<Run>[] = [
  { title: 'Run', width: '7rem', cell: (run) => <Link to="/runs/$id" params={{ id: run.id }} title={run.id}>…{run.id.slice(-8)}</Link> },
  { title: 'Workspace', cell: (run) => <Link to="/states/$" params={{ _splat: run.workspace }} title={run.workspace}>{run.workspace}</Link> },
  { title: 'Kind', width: '5rem', cell: ({ kind }) => kind, secondary: true },
  { title: 'Status', width: '11.5rem', cell: (run) => <RunBadge run={run} /> },
  { title: 'Changes', width: '7rem', cell: countsOf },
  { title: 'By', width: '7rem', cell: (run) => actorOf(run.trigger), secondary: true },
  { title: 'Began', width: '7rem', cell: (run) => <Time at={run.created_at} />, secondary: true },
  { title: 'Why', cell: (run) => <span title={run.reason}>{run.reason || run.message}</span>, secondary: true },
]
