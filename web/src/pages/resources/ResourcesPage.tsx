import { Link, useNavigate } from '@tanstack/react-router'
import { useMay } from '@/api/session'
import type { Source } from '@/api/types'
import { Choice } from '@/ui/Field'
import { Filters, FilterText } from '@/ui/Filters'
import { Page } from '@/ui/Page'
import { Tabs } from '@/ui/Tabs'
import { Coverage } from './Coverage'
import { resourcesRoute, type ResourcesSearch } from './route'
import { SearchResults } from './SearchResults'

/** ResourcesPage searches all states and uploads, and says what is in which of them. */
export function ResourcesPage() {
  const search = resourcesRoute.useSearch()
  const navigate = useNavigate({ from: resourcesRoute.fullPath })
  const may = useMay()
  const both = may('state:read') && may('data:read')
  const tab = search.tab === 'coverage' && both ? 'coverage' : 'search'
  const set = (change: Partial<ResourcesSearch>) =>
    void navigate({ search: (was) => Object.fromEntries(Object.entries({ ...was, ...change }).filter(([, value]) => value !== '')), replace: true })

  const filters = (
    <Filters label="Filters of resources">
      {tab === 'search' ? <FilterText wide label="Words of an address, ID, name or tag" value={search.q ?? ''} onChange={(q) => { set({ q }) }} /> : null}
      <FilterText label="Type" value={search.type ?? ''} onChange={(type) => { set({ type }) }} />
      <FilterText label="Provider" value={search.provider ?? ''} onChange={(provider) => { set({ provider }) }} />
      <FilterText label="State" value={search.state ?? ''} onChange={(state) => { set({ state }) }} />
      {tab === 'search' && both ? (
        <Choice label="In" value={search.source ?? ''} onChange={({ target }) => { set({ source: target.value }) }}>
          <option value="">states and uploads</option>
          <option value="state">states</option>
          <option value="upload">uploads</option>
        </Choice>
      ) : null}
      {['q', 'type', 'provider', 'state', 'source'].some((name) => name in search) ? (
        <Link to="/resources" search={tab === 'coverage' ? { tab } : {}}>Clear</Link>
      ) : null}
    </Filters>
  )
  const filter = { q: search.q, type: search.type, provider: search.provider, state: search.state }
  return (
    <Page title="Resources" name="Resources" line="What your states hold, and what was seen in the cloud">
      <Tabs
        label="Views of resources"
        value={tab}
        onChange={(next) => { set({ tab: next === 'search' ? '' : next }) }}
        tabs={[
          { id: 'search', label: 'Search', content: () => <>{filters}<SearchResults filter={{ ...filter, source: search.source as Source | undefined }} /></> },
          ...(both
            ? [{ id: 'coverage', label: 'Coverage', content: () => <>{filters}<Coverage filter={filter} status={search.status} onStatus={(status) => { set({ status }) }} /></> }]
            : []),
        ]}
      />
    </Page>
  )
}
