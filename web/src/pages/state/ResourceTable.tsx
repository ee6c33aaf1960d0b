import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { contentQuery } from '@/api/states'
import { differences } from '@/lib/differences'
import { count } from '@/lib/size'
import { AttributeChanges } from '@/ui/AttributeChanges'
import { Copyable } from '@/ui/Copyable'
import { Dialog } from '@/ui/Dialog'
import { FilterText } from '@/ui/Filters'
import { Await, Empty } from '@/ui/states'
import { Table, type Column } from '@/ui/Table'
import { heldIn, type Held } from './content'
import { stateRoute } from './route'
import styles from './StatePage.module.css'

/** ResourceTable lists what the newest version holds; one of them opens with its attributes. */
export function ResourceTable({ name }: { name: string }) {
  const query = useQuery(contentQuery(name))
  const { resource, filter = '' } = stateRoute.useSearch()
  const navigate = useNavigate({ from: stateRoute.fullPath })
  const look = (at: { filter?: string; resource?: string | undefined }) => {
    const { filter: words = filter, resource: address } = at
    void navigate({ search: { tab: 'resources', ...(words === '' ? {} : { filter: words }), ...(address === undefined ? {} : { resource: address }) }, replace: true, resetScroll: false })
  }
  const setOpen = (row?: Held) => { look({ resource: row?.address }) }
  const all = useMemo(() => (query.data === undefined ? [] : heldIn(query.data)), [query.data])
  const open = all.find(({ address }) => address === resource)
  const found = useMemo(() => all.filter(({ address, id }) => filter.toLowerCase().split(/\s+/).every((word) => `${address} ${id}`.toLowerCase().includes(word))), [all, filter])
  return (
    <Await query={query} what="resources">
      {() => (
        <>
          <div className={styles.note}>
            <FilterText wide label="Words of an address or ID" value={filter} onChange={(words) => { look({ filter: words, resource }) }} />
            <span className="muted">{count(found.length, 'resource')}; sensitive values are hidden</span>
          </div>
          {found.length > 0 ? <Table label="Resources" columns={columns(setOpen)} rows={found} rowKey={(row) => row.address} /> : <Empty title={all.length > 0 ? 'No resource passes the filter.' : 'This version holds no resources.'} />}
          <Dialog title={open?.address ?? ''} open={open !== undefined} onClose={() => { setOpen() }} wide>
            {open ? (
              <>
                <p><Link to="/resources/history" search={{ state: name, address: open.address }}>Its history</Link>, version by version</p>
                <AttributeChanges changes={differences(null, open.attributes)} plain />
              </>
            ) : null}
          </Dialog>
        </>
      )}
    </Await>
  )
}

function columns(open: (row: Held) => void): Column<Held>[] {
  return [
    {
      title: 'Address',
      cell: (row) => (
        <button type="button" className={styles.link} onClick={() => { open(row) }}>
          <code>{row.address}</code>
        </button>
      ),
    },
    { title: 'ID', cell: ({ id }) => (id === '' ? null : <Copyable value={id} label="ID" />) },
    { title: 'Provider', width: '18rem', cell: ({ provider }) => provider.replace(/^registry\.(opentofu|terraform)\.(org|io)\//, ''), secondary: true },
    { title: 'Mode', width: '6rem', cell: ({ mode }) => mode, secondary: true },
  ]
}
