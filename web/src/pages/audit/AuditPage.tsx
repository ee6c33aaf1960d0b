import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { auditQuery } from '@/api/audit'
import { Button } from '@/ui/Button'
import { Choice } from '@/ui/Field'
import { Filters, FilterText } from '@/ui/Filters'
import { Page } from '@/ui/Page'
import { Await, Empty } from '@/ui/states'
import { Table } from '@/ui/Table'
import { actionGroups } from './actions'
import { columns } from './columns'
import { filterOf, lastDays } from './filter'
import { auditRoute } from './route'

/** AuditPage is who did what, and what was refused, the newest first. */
export function AuditPage() {
  const search = auditRoute.useSearch()
  const navigate = useNavigate({ from: auditRoute.fullPath })
  const [follow, setFollow] = useState(true)
  const filter = useMemo(() => filterOf(search), [search])
  const log = useInfiniteQuery(auditQuery(filter, follow))
  const events = useMemo(() => {
    const all = log.data?.pages.flatMap((page) => page.events) ?? []
    return search.only === 'refused' ? all.filter(({ refused }) => refused) : all
  }, [log.data, search.only])

  const set = (change: Partial<typeof search>) => void navigate({ search: (was) => drop({ ...was, ...change }), replace: true })
  return (
    <Page
      title="Audit log"
      name="Audit log"
      line="Who did what, and what was refused, the newest first"
      actions={
        <Button aria-pressed={follow} onClick={() => { setFollow(!follow) }} title="Reads what is new every 15 seconds">
          {follow ? '◐ Following' : '○ Follow'}
        </Button>
      }
    >
      <Filters label="Filters of the audit log">
        <Choice label="Action" value={search.only === 'refused' ? 'refused' : (search.action ?? '')} onChange={({ target }) => { set(target.value === 'refused' ? { only: 'refused', action: '' } : { only: '', action: target.value }) }}>
          <option value="">all</option>
          <option value="refused">refusals of any kind</option>
          {actionGroups.map(([group, actions]) => (
            <optgroup key={group} label={group}>
              {actions.map(([action, words]) => (
                <option key={action} value={action} title={words}>{action}</option>
              ))}
            </optgroup>
          ))}
        </Choice>
        <FilterText label="State" value={search.state ?? ''} onChange={(state) => { set({ state }) }} />
        <FilterText label="Key ID" value={search.key ?? ''} onChange={(key) => { set({ key }) }} />
        <Choice label="Since" value={search.since ?? ''} onChange={({ target }) => { set({ since: target.value }) }}>
          <option value="">ever</option>
          {lastDays.map(([value, label]) => (
            <option key={value} value={value}>{label}</option>
          ))}
          {search.since && !lastDays.some(([value]) => value === search.since) ? <option value={search.since}>{search.since}</option> : null}
        </Choice>
        {Object.keys(search).length > 0 ? <Link to="/audit">Clear</Link> : null}
      </Filters>
      <Await query={log} what="the audit log" rows={12}>
        {() =>
          events.length > 0 || log.hasNextPage ? (
            <Table
              label="Audit log"
              columns={columns}
              rows={events}
              rowKey={(event) => String(event.sequence)}
              onEnd={log.hasNextPage && !log.isFetchingNextPage ? () => void log.fetchNextPage() : undefined}
            />
          ) : (
            <Nothing filtered={Object.keys(search).length > 0} />
          )
        }
      </Await>
      {log.isFetchingNextPage ? <p className="muted" role="status">Reading what was before…</p> : null}
    </Page>
  )
}

function drop<T extends object>(search: T): T {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== '' && value !== undefined)) as T
}

function Nothing({ filtered }: { filtered: boolean }) {
  if (filtered) {
    return (
      <Empty title="No event passes the filters.">
        <Link to="/audit">Show all events</Link>
      </Empty>
    )
  }
  return <Empty title="Nothing has happened yet.">Each change and each refusal will be a line here.</Empty>
}
