import '@xyflow/react/dist/style.css'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Background, Controls, ReactFlow } from '@xyflow/react'
import { graphQuery } from '@/api/states'
import { modulesOf } from '@/lib/modules'
import { count } from '@/lib/size'
import { Await, Empty, Failed } from '@/ui/states'
import { useDark } from '@/ui/useDark'
import { lay, nodeSize, type Laid } from './layout'
import styles from './StatePage.module.css'

/** Graph draws which resource of the newest version depends on which. */
export default function Graph({ name }: { name: string }) {
  const graph = useQuery(graphQuery(name))
  const laid = useQuery({
    queryKey: ['layout', name, graph.dataUpdatedAt],
    queryFn: () => lay(graph.data!),
    enabled: graph.data !== undefined,
    staleTime: Infinity,
  })
  if (graph.error) return <Failed error={graph.error} again={() => void graph.refetch()} />
  return (
    <Await query={laid} what="the graph">
      {(placed) => <Drawn name={name} graph={placed} />}
    </Await>
  )
}

function Drawn({ name, graph }: { name: string; graph: Laid }) {
  const dark = useDark()
  if (graph.nodes.length === 0) return <Empty title="This version holds no resources." />
  return (
    <>
      <p className="muted">
        {count(graph.nodes.length, 'resource')}, {count(graph.edges.length, 'dependency', 'dependencies')}; an arrow leads to what is depended on. The tab Resources has the same as a table, where each opens.
      </p>
      <div className={styles.graph}>
        <ReactFlow
          colorMode={dark ? 'dark' : 'light'}
          fitView
          fitViewOptions={{ maxZoom: 1 }}
          minZoom={0.05}
          onlyRenderVisibleElements
          nodesDraggable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          nodesConnectable={false}
          nodes={graph.nodes.map(({ id, label, instances, x, y }) => ({
            id,
            position: { x, y },
            data: { label: <Label state={name} address={label} instances={instances} /> },
            sourcePosition: 'right' as never,
            targetPosition: 'left' as never,
            width: nodeSize.width,
            height: nodeSize.height,
          }))}
          edges={graph.edges.map(({ from, to }) => ({ id: `${from} ${to}`, source: from, target: to, markerEnd: { type: 'arrowclosed' as never } }))}
          proOptions={{ hideAttribution: false }}
        >
          <Background />
          <Controls showInteractive={false} />
        </ReactFlow>
      </div>
    </>
  )
}

/** Label is what a resource is called: in small its modules, below them the resource itself. It leads to what the state holds of it. */
function Label({ state, address, instances }: { state: string; address: string; instances: number }) {
  const { modules, rest } = modulesOf(address)
  return (
    <Link to="/states/$" params={{ _splat: state }} search={{ tab: 'resources', ...(instances > 1 ? {} : { resource: address }) }} className={styles.node} title={address}>
      {modules.length > 0 ? <span className="muted">{modules.join('.')}</span> : null}
      <span>{instances > 1 ? `${rest} ×${String(instances)}` : rest}</span>
    </Link>
  )
}
