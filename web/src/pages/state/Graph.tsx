import '@xyflow/react/dist/style.css'
import { useQuery } from '@tanstack/react-query'
import { Background, Controls, ReactFlow } from '@xyflow/react'
import { contentQuery } from '@/api/states'
import { count } from '@/lib/size'
import { Await, Empty, Failed } from '@/ui/states'
import { heldIn } from './content'
import { lay, nodeSize, type Laid } from './layout'
import styles from './StatePage.module.css'

/** Graph draws which resource of the newest version depends on which. */
export default function Graph({ name }: { name: string }) {
  const content = useQuery(contentQuery(name))
  const laid = useQuery({
    queryKey: ['state', name, 'graph', content.dataUpdatedAt],
    queryFn: () => lay(heldIn(content.data!)),
    enabled: content.data !== undefined,
    staleTime: Infinity,
  })
  if (content.error) return <Failed error={content.error} again={() => void content.refetch()} />
  return (
    <Await query={laid} what="the graph">
      {(graph) => <Drawn graph={graph} />}
    </Await>
  )
}

function Drawn({ graph }: { graph: Laid }) {
  if (graph.nodes.length === 0) return <Empty title="This version holds no resources." />
  return (
    <>
      <p className="muted">
        {count(graph.nodes.length, 'resource')}, {count(graph.edges.length, 'dependency', 'dependencies')}; an arrow leads to what is depended on. The tab Resources has the same as a table.
      </p>
      <div className={styles.graph}>
        <ReactFlow
          colorMode="system"
          fitView
          minZoom={0.05}
          onlyRenderVisibleElements
          nodesDraggable={false}
          nodesConnectable={false}
          nodes={graph.nodes.map(({ id, label, instances, x, y }) => ({
            id,
            position: { x, y },
            data: { label: instances > 1 ? `${label} ×${String(instances)}` : label },
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
