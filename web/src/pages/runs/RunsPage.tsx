import { useNavigate } from '@tanstack/react-router'
import { Choice } from '@/ui/Field'
import { Filters, FilterText } from '@/ui/Filters'
import { Page } from '@/ui/Page'
import { runsRoute, type RunsSearch } from './route'
import { RunTable } from './RunTable'

const statuses: [value: string, label: string][] = [
  ['', 'any'],
  ['awaiting_approval', 'waits for approval'],
  ['pending,preparing,planning,checking,confirmed,applying,retrying', 'under way'],
  ['orphaned', 'orphaned'],
  ['failed', 'failed'],
  ['succeeded', 'succeeded'],
  ['stale', 'stale'],
  ['discarded,cancelled', 'ended by somebody'],
]

const kinds = ['plan', 'apply', 'destroy', 'refresh', 'drift']

/** RunsPage lists the runs of all workspaces. */
export function RunsPage() {
  const search = runsRoute.useSearch()
  const navigate = useNavigate({ from: runsRoute.fullPath })
  const choose = (change: RunsSearch) =>
    void navigate({ search: (was) => Object.fromEntries(Object.entries({ ...was, ...change }).filter(([, value]) => value !== '')), replace: true })
  return (
    <Page title="Runs" name="Runs" line="Plans and applies, the newest first">
      <Filters label="Filter runs">
        <FilterText label="Workspace" value={search.workspace ?? ''} onChange={(workspace) => { choose({ workspace }) }} />
        <Choice label="Status" value={search.status ?? ''} onChange={(event) => { choose({ status: event.target.value }) }}>
          {statuses.map(([value, label]) => (
            <option key={label} value={value}>{label}</option>
          ))}
        </Choice>
        <Choice label="Kind" value={search.kind ?? ''} onChange={(event) => { choose({ kind: event.target.value }) }}>
          <option value="">any</option>
          {kinds.map((kind) => (
            <option key={kind}>{kind}</option>
          ))}
        </Choice>
      </Filters>
      <RunTable filter={search} />
    </Page>
  )
}
