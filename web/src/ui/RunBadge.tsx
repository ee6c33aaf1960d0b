import type { Run, RunStatusName } from '@/api/types'
import { Badge, type Tone } from './Badge'

const tones: Record<RunStatusName, Tone> = {
  pending: 'still',
  preparing: 'going',
  planning: 'going',
  checking: 'going',
  awaiting_approval: 'person',
  confirmed: 'going',
  applying: 'going',
  retrying: 'going',
  orphaned: 'loss',
  succeeded: 'done',
  failed: 'loss',
  discarded: 'still',
  stale: 'person',
  cancelled: 'still',
}

/** RunBadge is where a run is, in a word. */
export function RunBadge({ run }: { run: Run }) {
  return <Badge tone={tones[run.status]}>{run.status === 'awaiting_approval' ? 'waits for approval' : run.status}</Badge>
}
