import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import type { Partition } from '@/api/enclaves'
import type { Run } from '@/api/types'
import { RunRows } from '@/pages/runs/RunTable'
import { count } from '@/lib/size'
import { Choice } from '@/ui/Field'
import { Page, Section } from '@/ui/Page'
import { Await, Empty, Skeleton } from '@/ui/states'
import { Table, type Column } from '@/ui/Table'
import { enclaveRoute } from './route'
import { Stands, type Row } from './Stands'
import { byTime, reconcilesOf, standingOf, summaryOf } from './standing'
import { usePartitions, useRuns } from './usePartitions'

const EnclaveGraph = lazy(() => import('./EnclaveGraph'))

/** EnclavePage shows an enclave: what imports from what, where each partition stands, and its runs. */
export function EnclavePage() {
  const { enclave } = enclaveRoute.useParams()
  const query = usePartitions(enclave)
  const line = query.data ? count(query.data.partitions.length, 'partition') : 'An enclave'
  return (
    <Page title={enclave} name={enclave} line={line}>
      <Await query={query} what="partitions">
        {({ partitions }) =>
          partitions.length === 0 ? (
            <Empty title="The server has no partition of this enclave.">Partitions that a machine runs with --local, and managed ones, are known to that machine.</Empty>
          ) : (
            <Known partitions={partitions} />
          )
        }
      </Await>
    </Page>
  )
}

function Known({ partitions }: { partitions: Partition[] }) {
  const query = useRuns(partitions)
  return (
    <Await query={query} what="runs of partitions">
      {(runs) => {
        const rows = partitions.map((partition) => ({ partition, standing: standingOf(runs.get(partition.path) ?? []) }))
        return (
          <>
            <Section title="Graph">
              <Suspense fallback={<Skeleton what="the graph" />}>
                <EnclaveGraph rows={rows} />
              </Suspense>
            </Section>
            <Section title="Partitions">
              <Table label="Partitions" columns={columns} rows={rows} rowKey={({ partition }) => partition.path} keys={false} />
            </Section>
            <Runs runs={byTime([...runs.values()].flat())} />
          </>
        )
      }}
    </Await>
  )
}

const columns: Column<Row>[] = [
  { title: 'Partition', cell: ({ partition: { path, name } }) => <Link to="/states/$" params={{ _splat: path }} title={name}>{path.slice(path.indexOf('/') + 1)}</Link> },
  { title: 'Produces', width: '6rem', cell: ({ partition }) => partition.produces, secondary: true },
  { title: 'Backend', width: '7rem', cell: ({ partition }) => partition.backend, secondary: true },
  { title: 'Imports from', cell: ({ partition }) => partition.needs.join(', '), secondary: true },
  { title: 'Stands', width: '12.5rem', cell: ({ standing }) => <Stands standing={standing} /> },
  { title: 'Run', width: '8rem', cell: ({ standing: { found, last } }) => <RunLink run={found ?? last} /> },
]

function RunLink({ run }: { run: Run | undefined }) {
  if (!run) return null
  return <Link to="/runs/$id" params={{ id: run.id }} title={run.id}>…{run.id.slice(-8)}</Link>
}

function Runs({ runs }: { runs: Run[] }) {
  const { reconcile } = enclaveRoute.useSearch()
  const navigate = useNavigate({ from: enclaveRoute.fullPath })
  const reconciles = reconcilesOf(runs)
  const chosen = reconciles.find(({ id }) => id === reconcile)
  return (
    <Section
      title="Runs"
      actions={
        <Choice
          label="Reconcile"
          value={chosen?.id ?? ''}
          onChange={({ target: { value } }) => void navigate({ search: value === '' ? {} : { reconcile: value }, replace: true })}
        >
          <option value="">any, and runs of none</option>
          {reconciles.map((one) => (
            <option key={one.id} value={one.id}>{`${one.id.slice(0, 8)}: ${summaryOf(one)}`}</option>
          ))}
        </Choice>
      }
    >
      {chosen ? <p className="muted">{`${count(chosen.runs.length, 'run')} in the order of imports: ${summaryOf(chosen)}. Each leads to its plan.`}</p> : null}
      <RunRows rows={chosen?.runs ?? runs} filtered={chosen !== undefined} />
    </Section>
  )
}
