import { Graph, layout as arrange } from '@dagrejs/dagre'
import type { Graph as Resources } from '@/api/types'

/** Placed is a resource of a graph with its place, in pixels. */
export interface Placed {
  id: string
  label: string
  instances: number
  x: number
  y: number
}

export interface Laid {
  nodes: Placed[]
  edges: { from: string; to: string }[]
}

export const nodeSize = { width: 240, height: 40 }

/** Beyond so many resources the layout is elkjs', which has better ways with large graphs. */
export const largeFrom = 500

/** lay gives each resource a place: what others depend on is at the right of them. */
export async function lay({ nodes: resources, edges: needs }: Resources): Promise<Laid> {
  const ids = resources.map(({ address }) => address)
  const edges = needs.map(({ from, to }) => ({ from: ids[from]!, to: ids[to]! }))
  const places = ids.length > largeFrom ? await byElk(ids, edges) : byDagre(ids, edges)
  return { nodes: resources.map(({ address, instances }) => ({ id: address, label: address, instances, ...(places.get(address) ?? { x: 0, y: 0 }) })), edges }
}

type Places = Map<string, { x: number; y: number }>

function byDagre(ids: string[], edges: Laid['edges']): Places {
  const graph = new Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: 16, ranksep: 64 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const id of ids) graph.setNode(id, { ...nodeSize })
  for (const { from, to } of edges) graph.setEdge(from, to)
  arrange(graph)
  return new Map(
    ids.map((id) => {
      const { x, y } = graph.node(id) as { x: number; y: number }
      return [id, { x: x - nodeSize.width / 2, y: y - nodeSize.height / 2 }]
    }),
  )
}

async function byElk(ids: string[], edges: Laid['edges']): Promise<Places> {
  const { default: Elk } = await import('elkjs/lib/elk.bundled.js')
  const laid = await new Elk().layout({
    id: 'root',
    layoutOptions: { 'elk.algorithm': 'layered', 'elk.direction': 'RIGHT', 'elk.spacing.nodeNode': '16' },
    children: ids.map((id) => ({ id, ...nodeSize })),
    edges: edges.map(({ from, to }, index) => ({ id: String(index), sources: [from], targets: [to] })),
  })
  return new Map((laid.children ?? []).map(({ id, x = 0, y = 0 }) => [id, { x, y }]))
}
