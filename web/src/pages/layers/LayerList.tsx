import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { layersQuery } from '@/api/layers'
import type { Layer } from '@/api/types'
import { count } from '@/lib/size'
import { Badge } from '@/ui/Badge'
import { Choice } from '@/ui/Field'
import { Filters, FilterText } from '@/ui/Filters'
import { Await, Empty } from '@/ui/states'
import { Table, type Column } from '@/ui/Table'
import { Time } from '@/ui/Time'
import { layerStates, LayerState } from './LayerState'
import { layersRoute, type LayersSearch } from './route'
import { isWanted, watches, watchOf } from './watch'

/** LayerList is every layer that passes the filters, with where it stands and what is done about it. */
export function LayerList() {
  const query = useQuery(layersQuery)
  return <Await query={query} what="layers">{(layers) => (layers.length === 0 ? <NoLayers /> : <Filtered layers={layers} />)}</Await>
}

/** NoLayers says how one is made. */
export function NoLayers() {
  return (
    <Empty title="There is no layer yet.">
      <code>holdfast repo add NAME URL</code> registers a repository, <code>holdfast layer discover NAME</code> shows which layers it has, and{' '}
      <code>holdfast layer add NAME --repository … --path …</code> makes one.
    </Empty>
  )
}

function Filtered({ layers }: { layers: Layer[] }) {
  const search = layersRoute.useSearch()
  const navigate = useNavigate({ from: layersRoute.fullPath })
  const set = (change: LayersSearch) => void navigate({ search: (was) => kept({ ...was, ...change }), replace: true })
  const repositories = [...new Set(layers.map(({ settings }) => settings.repository))].sort()
  const rows = layers.filter((layer) => isWanted(layer, search))
  return (
    <>
      <Filters label="Filters of layers">
        <FilterText label="Filter by name" value={search.q ?? ''} onChange={(q) => { set({ q }) }} />
        <Choice label="State" value={search.state ?? ''} onChange={({ target }) => { set({ state: target.value }) }}>
          <option value="">any</option>
          {Object.entries(layerStates).map(([state, { means }]) => <option key={state} value={state} title={means}>{state}</option>)}
        </Choice>
        <Choice label="Repository" value={search.repository ?? ''} onChange={({ target }) => { set({ repository: target.value }) }}>
          <option value="">any</option>
          {repositories.map((name) => <option key={name} value={name}>{name}</option>)}
        </Choice>
        <Choice label="Drift" value={search.watch ?? ''} onChange={({ target }) => { set({ watch: target.value }) }}>
          <option value="">any</option>
          {watches.filter(({ id }) => id !== 'none').map(({ id, label, means }) => <option key={id} value={id} title={means}>{label}</option>)}
        </Choice>
      </Filters>
      {rows.length === 0 ? (
        <Empty title="No layer passes the filters."><Link to="/layers">Show all layers</Link></Empty>
      ) : (
        <Table label="Layers" columns={columns} rows={rows} rowKey={({ name }) => name} />
      )}
    </>
  )
}

function kept(search: LayersSearch): LayersSearch {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== ''))
}

const columns: Column<Layer>[] = [
  { title: 'Layer', cell: ({ name }) => <Link to="/layers/$" params={{ _splat: name }} title={name}>{name}</Link> },
  { title: 'State', width: '11.5rem', cell: ({ state }) => <LayerState state={state} /> },
  { title: 'Drift', width: '10rem', cell: (layer) => <Drifted layer={layer} /> },
  { title: 'Commit', width: '6.5rem', cell: ({ relevant_commit: commit }) => (commit ? <code title={commit}>{commit.slice(0, 8)}</code> : null), secondary: true },
  { title: 'Run', width: '8rem', cell: ({ run }) => (run?.id ? <Link to="/runs/$id" params={{ id: run.id }} title={run.why}>{run.kind} …{run.id.slice(-4)}</Link> : null), secondary: true },
  { title: 'What is done', cell: ({ says }) => <span title={says}>{says}</span>, secondary: true },
  { title: 'Checked', width: '7rem', cell: ({ checked_at: at }) => <Time at={at} />, secondary: true },
]

function Drifted({ layer }: { layer: Layer }) {
  const words = watches.find(({ id }) => id === watchOf(layer))!
  return <Badge tone={words.tone}>{layer.drifted > 0 ? count(layer.drifted, 'resource') : words.label.toLowerCase()}</Badge>
}
