import { Graph, layout as arrange } from '@dagrejs/dagre'
import type { Held } from './content'

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

/** resourcesOf joins the instances of each resource: an instance's dependencies name resources. */
export function resourcesOf(held: Held[]): { ids: Map<string, number>; edges: { from: string; to: string }[] } {
  const base = (address: string) => address.replace(/\[[^\]]*\]$/, '')
  const ids = new Map<string, number>()
  const edges = new Map<string, { from: string; to: string }>()
  for (const one of held) ids.set(base(one.address), (ids.get(base(one.address)) ?? 0) + 1)
  for (const one of held) {
    for (const dependency of one.dependencies) {
      const edge = { from: base(one.address), to: dependency }
      if (ids.has(dependency)) edges.set(`${edge.from} ${edge.to}`, edge)
    }
  }
  return { ids, edges: [...edges.values()] }
}

/** lay gives each resource a place: what others depend on is at the right of them. */
export async function lay(held: Held[]): Promise<Laid> {
  const { ids, edges } = resourcesOf(held)
  const places = ids.size > largeFrom ? await byElk(ids, edges) : byDagre(ids, edges)
  const nodes = [...ids].map(([id, instances]) => ({ id, label: id, instances, ...(places.get(id) ?? { x: 0, y: 0 }) }))
  return { nodes, edges }
}

type Places = Map<string, { x: number; y: number }>

function byDagre(ids: Map<string, number>, edges: Laid['edges']): Places {
  const graph = new Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: 16, ranksep: 64 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const id of ids.keys()) graph.setNode(id, { ...nodeSize })
  for (const { from, to } of edges) graph.setEdge(from, to)
  arrange(graph)
  return new Map(
    [...ids.keys()].map((id) => {
      const { x, y } = graph.node(id) as { x: number; y: number }
      return [id, { x: x - nodeSize.width / 2, y: y - nodeSize.height / 2 }]
    }),
  )
}

async function byElk(ids: Map<string, number>, edges: Laid['edges']): Promise<Places> {
  const { default: Elk } = await import('elkjs/lib/elk.bundled.js')
  const laid = await new Elk().layout({
    id: 'root',
    layoutOptions: { 'elk.algorithm': 'layered', 'elk.direction': 'RIGHT', 'elk.spacing.nodeNode': '16' },
    children: [...ids.keys()].map((id) => ({ id, ...nodeSize })),
    edges: edges.map(({ from, to }, index) => ({ id: String(index), sources: [from], targets: [to] })),
  })
  return new Map((laid.children ?? []).map(({ id, x = 0, y = 0 }) => [id, { x, y }]))
}
