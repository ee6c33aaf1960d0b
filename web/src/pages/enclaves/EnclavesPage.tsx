import { Link } from '@tanstack/react-router'
import type { Partition } from '@/api/enclaves'
import { count } from '@/lib/size'
import { Page } from '@/ui/Page'
import { Await, Empty } from '@/ui/states'
import { Table, type Column } from '@/ui/Table'
import { usePartitions, type Partitions } from './usePartitions'

interface Enclave {
  id: string
  partitions: Partition[]
}

const columns: Column<Enclave>[] = [
  { title: 'Enclave', width: '16rem', cell: ({ id }) => <Link to="/enclaves/$enclave" params={{ enclave: id }}>{id}</Link> },
  { title: 'Partitions', cell: ({ partitions }) => partitions.map(({ path }) => path.slice(path.indexOf('/') + 1)).join(', ') },
]

/** EnclavesPage lists the enclaves whose partitions the server runs. */
export function EnclavesPage() {
  const query = usePartitions()
  return (
    <Page title="Enclaves" name="Enclaves" line="Groups of partitions that import from each other">
      <Await query={query} what="enclaves">{(found) => <Enclaves found={found} />}</Await>
    </Page>
  )
}

function Enclaves({ found: { partitions, left } }: { found: Partitions }) {
  const byEnclave = new Map<string, Partition[]>()
  for (const one of partitions) byEnclave.set(one.enclave, [...(byEnclave.get(one.enclave) ?? []), one])
  const all = [...byEnclave].map(([id, of]) => ({ id, partitions: of }))
  if (all.length === 0) {
    return (
      <Empty title="There is no enclave yet.">
        <code>holdfast enclave apply DIR</code> makes what a folder of enclaves says.
      </Empty>
    )
  }
  return (
    <>
      {left > 0 ? <p className="muted">{count(left, 'more workspace')} may be partitions; they are not looked into.</p> : null}
      <Table label="Enclaves" columns={columns} rows={all} rowKey={({ id }) => id} />
    </>
  )
}
