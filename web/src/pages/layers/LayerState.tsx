import type { Layer } from '@/api/types'
import { Badge, type Tone } from '@/ui/Badge'

export const layerStates: Record<Layer['state'], { tone: Tone; means: string }> = {
  MaxRetriesReached: { tone: 'loss', means: 'has failed too often, and is not tried again by itself' },
  Gone: { tone: 'person', means: 'is in its repository no more, and what it has made is there still' },
  ApplyNeeded: { tone: 'person', means: 'what was planned last is not applied' },
  PlanNeeded: { tone: 'going', means: 'has to be planned' },
  Idle: { tone: 'done', means: 'is what its repository says, as far as is known' },
}

/** LayerState is where a layer is, in the word that the API and the commands have too. */
export function LayerState({ state }: { state: Layer['state'] }) {
  return <Badge tone={layerStates[state].tone}>{state}</Badge>
}
