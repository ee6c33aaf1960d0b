import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { checkLayer, layerQuery, syncLayer } from '@/api/layers'
import { useMay } from '@/api/session'
import type { Layer } from '@/api/types'
import { LayerState } from '@/pages/layers/LayerState'
import { Button } from '@/ui/Button'
import { Page } from '@/ui/Page'
import { Await, Failed } from '@/ui/states'
import { Tabs, type Tab } from '@/ui/Tabs'
import { Commits } from './Commits'
import { Conditions } from './Conditions'
import { DriftReport } from './DriftReport'
import { layerRoute } from './route'
import { Settings } from './Settings'

/** LayerPage is one layer: what holds of it, what its commits have come to, what has drifted, and how it is set. */
export function LayerPage() {
  const name = layerRoute.useParams()._splat ?? ''
  const query = useQuery(layerQuery(name))
  const may = useMay()
  return (
    <Page
      title={name}
      name={name}
      line={query.data ? <Line layer={query.data} /> : 'A layer'}
      actions={
        <>
          <Link to="/states/$" params={{ _splat: name }}>State</Link>
          <Link to="/editor/$" params={{ _splat: name }} preload={false}>Files</Link>
          {query.data && may('run:plan') ? <Ask name={name} /> : null}
        </>
      }
    >
      <Await query={query} what="the layer">{(layer) => <Known layer={layer} />}</Await>
    </Page>
  )
}

function Line({ layer: { state, says, run } }: { layer: Layer }) {
  return (
    <>
      <LayerState state={state} /> {says}
      {run?.id ? <>, <Link to="/runs/$id" params={{ id: run.id }}>run …{run.id.slice(-8)}</Link></> : null}
    </>
  )
}

/** Ask has the layer planned or checked now, whatever its state. */
function Ask({ name }: { name: string }) {
  const client = useQueryClient()
  const act = useMutation({ mutationFn: (ask: (name: string) => Promise<Layer>) => ask(name), onSuccess: (layer) => { client.setQueryData(layerQuery(name).queryKey, layer) } })
  return (
    <>
      <Button busy={act.isPending} onClick={() => { act.mutate(syncLayer) }}>Plan now</Button>
      <Button busy={act.isPending} onClick={() => { act.mutate(checkLayer) }}>Check for drift</Button>
      {act.error ? <Failed error={act.error} again={() => { act.reset() }} /> : null}
    </>
  )
}

function Known({ layer }: { layer: Layer }) {
  const { tab = 'conditions' } = layerRoute.useSearch()
  const navigate = useNavigate({ from: layerRoute.fullPath })
  const tabs: Tab[] = [
    { id: 'conditions', label: 'Conditions', content: () => <Conditions layer={layer} /> },
    { id: 'commits', label: 'Commits', content: () => <Commits layer={layer} /> },
    { id: 'drift', label: layer.drifted > 0 ? `Drift (${String(layer.drifted)})` : 'Drift', content: () => <DriftReport layer={layer} /> },
    { id: 'settings', label: 'Settings', content: () => <Settings layer={layer} /> },
  ]
  return <Tabs label="Parts of the layer" tabs={tabs} value={tabs.some(({ id }) => id === tab) ? tab : 'conditions'} onChange={(id) => void navigate({ search: { tab: id }, replace: true })} />
}
