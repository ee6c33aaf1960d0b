import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { searchQuery, type ResourceFilter } from '@/api/resources'
import type { Source } from '@/api/types'
import { Await, Empty } from '@/ui/states'
import { Table } from '@/ui/Table'
import { columns, rowKeyOf } from './columns'
import { ExtentNote } from './ExtentNote'

/** SearchResults is the table of what a search has found. */
export function SearchResults({ filter }: { filter: ResourceFilter & { source?: Source | undefined } }) {
  const found = useInfiniteQuery(searchQuery(filter))
  const rows = found.data?.pages.flatMap((page) => page.resources) ?? []
  const filtered = Object.values(filter).some((value) => value !== undefined)
  return (
    <Await query={found} what="resources" rows={12}>
      {(data) => (
        <>
          <ExtentNote extent={data.pages[0]!} />
          {rows.length > 0 || found.hasNextPage ? (
            <Table
              label="Resources"
              columns={columns}
              rows={rows}
              rowKey={rowKeyOf}
              onEnd={found.hasNextPage && !found.isFetchingNextPage ? () => void found.fetchNextPage() : undefined}
            />
          ) : (
            <Nothing filtered={filtered} />
          )}
          {found.isFetchingNextPage ? <p className="muted" role="status">Reading more…</p> : null}
        </>
      )}
    </Await>
  )
}

function Nothing({ filtered }: { filtered: boolean }) {
  if (filtered) {
    return (
      <Empty title="Nothing has all of these words.">
        Words are found from their beginning: <code>0ab</code> finds <code>i-0abc</code>, <code>abc</code> does not.{' '}
        <Link to="/resources">Show all resources</Link>
      </Empty>
    )
  }
  return (
    <Empty title="There are no resources yet.">
      They come with the first state that is written, and with <code>POST /api/v1/upload</code>.
    </Empty>
  )
}
