import type { Partition } from '@/api/enclaves'
import { Badge } from '@/ui/Badge'
import { RunBadge } from '@/ui/RunBadge'
import type { Standing } from './standing'

/** Row is a partition and where it stands. */
export interface Row {
  partition: Partition
  standing: Standing
}

/** Stands is where a partition stands, in a word. */
export function Stands({ standing: { last, found } }: { standing: Standing }) {
  if (found) return <Badge tone="person">differs</Badge>
  if (!last) return <Badge tone="still">never applied</Badge>
  return <RunBadge run={last} />
}
