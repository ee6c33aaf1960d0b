import '@xyflow/react/dist/style.css'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Background, Controls, ReactFlow } from '@xyflow/react'
import type { Graph } from '@/api/types'
import { lay, nodeSize } from '@/pages/state/layout'
import { Await } from '@/ui/states'
import { useDark } from '@/ui/useDark'
import styles from './Enclave.module.css'
import { Stands, type Row } from './Stands'
import { edgesOf } from './standing'

/** EnclaveGraph draws which partition imports from which, and where each stands. */
export default function EnclaveGraph({ rows }: { rows: Row[] }) {
  const dark = useDark()
  const partitions = rows.map(({ partition }) => partition)
  const edges = edgesOf(partitions)
  const laid = useQuery({
    queryKey: ['layout', 'enclave', partitions.map(({ path }) => path), edges],
    queryFn: () => lay({ nodes: partitions.map(({ path }) => ({ address: path, instances: 1 })), edges } as Graph),
    staleTime: Infinity,
  })
  return (
    <Await query={laid} what="the graph">
      {({ nodes }) => (
        <>
          <p className="muted">An arrow leads to what is imported from. The table below has the same.</p>
          <div className={styles.graph}>
            <ReactFlow
              colorMode={dark ? 'dark' : 'light'}
              fitView
              fitViewOptions={{ maxZoom: 1 }}
              minZoom={0.05}
              nodesDraggable={false}
              nodesFocusable={false}
              edgesFocusable={false}
              nodesConnectable={false}
              nodes={nodes.map(({ id, x, y }, index) => ({
                id,
                position: { x, y },
                data: { label: <Node row={rows[index]!} /> },
                sourcePosition: 'right' as never,
                targetPosition: 'left' as never,
                width: nodeSize.width,
                height: nodeSize.height,
              }))}
              edges={edges.map(({ from, to }) => ({ id: `${String(from)} ${String(to)}`, source: partitions[from]!.path, target: partitions[to]!.path, markerEnd: { type: 'arrowclosed' as never } }))}
              proOptions={{ hideAttribution: false }}
            >
              <Background />
              <Controls showInteractive={false} />
            </ReactFlow>
          </div>
        </>
      )}
    </Await>
  )
}

/** Node is a partition in the graph: its name and where it stands. It leads to its state. */
function Node({ row: { partition, standing } }: { row: Row }) {
  return (
    <Link to="/states/$" params={{ _splat: partition.path }} className={styles.node} title={partition.path}>
      <span>{partition.path.slice(partition.path.indexOf('/') + 1)}</span>
      <Stands standing={standing} />
    </Link>
  )
}
