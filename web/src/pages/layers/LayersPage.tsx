import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { layersQuery } from '@/api/layers'
import { useMay } from '@/api/session'
import type { Layer } from '@/api/types'
import { count } from '@/lib/size'
import { Page } from '@/ui/Page'
import { Tabs, type Tab } from '@/ui/Tabs'
import { DriftTab } from './DriftTab'
import { LayerList } from './LayerList'
import { Repositories } from './Repositories'
import { layersRoute } from './route'

/** LayersPage is what follows repositories: which layers there are and where each stands, what has drifted, and how repositories do. */
export function LayersPage() {
  const { tab = 'layers' } = layersRoute.useSearch()
  const navigate = useNavigate({ from: layersRoute.fullPath })
  const may = useMay()
  const layers = useQuery(layersQuery).data
  const tabs: Tab[] = [
    { id: 'layers', label: 'Layers', content: () => <LayerList /> },
    { id: 'drift', label: 'Drift', content: () => <DriftTab /> },
    ...(may('repository:read') ? [{ id: 'repositories', label: 'Repositories', content: () => <Repositories /> }] : []),
  ]
  return (
    <Page title="Layers" name="Layers" line={layers && layers.length > 0 ? lineOf(layers) : 'Workspaces whose configurations come from repositories'}>
      <Tabs label="Layers" tabs={tabs} value={tabs.some(({ id }) => id === tab) ? tab : 'layers'} onChange={(next) => void navigate({ search: { tab: next }, replace: true })} />
    </Page>
  )
}

function lineOf(layers: Layer[]): string {
  const of = (state: Layer['state']) => layers.filter((layer) => layer.state === state).length
  const drifted = layers.filter((layer) => layer.drifted > 0).length
  const parts = [
    [of('MaxRetriesReached'), 'stuck after failures'],
    [of('Gone'), 'gone from their repositories'],
    [of('ApplyNeeded'), 'to be applied'],
    [of('PlanNeeded'), 'to be planned'],
    [drifted, 'drifted'],
  ] as const
  return [count(layers.length, 'layer'), ...parts.filter(([number]) => number > 0).map(([number, words]) => `${number.toLocaleString()} ${words}`)].join(', ')
}
