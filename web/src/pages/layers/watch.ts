import type { Layer } from '@/api/types'

/** Watch is how a layer, or a workspace that is none, stands to what is there. */
export type Watch = 'drifted' | 'planned' | 'unchecked' | 'off' | 'none'

export interface WatchWords {
  id: Watch
  label: string
  means: string
  tone: 'person' | 'done' | 'still'
}

/** watches are all of them, what needs somebody first. */
export const watches: WatchWords[] = [
  { id: 'drifted', label: 'Drifted', means: 'the last check has found what was changed outside', tone: 'person' },
  { id: 'planned', label: 'As planned', means: 'the last check has found nothing that nobody expects', tone: 'done' },
  { id: 'unchecked', label: 'Not checked yet', means: 'a layer that waits for its first check', tone: 'still' },
  { id: 'off', label: 'Checks are off', means: 'a layer whose settings say so', tone: 'still' },
  { id: 'none', label: 'No layer', means: 'a workspace that nothing checks by itself', tone: 'still' },
]

/** watchOf says how a layer stands. */
export function watchOf({ drifted, settings, checked_at: at }: Pick<Layer, 'drifted' | 'settings' | 'checked_at'>): Watch {
  if (drifted > 0) return 'drifted'
  if (settings.drift.off) return 'off'
  return at === null ? 'unchecked' : 'planned'
}

/** Spot is a name in the map. */
export interface Spot {
  name: string
  watch: Watch
  /** How many resources differ; absent for a workspace that is no layer. */
  drifted?: number
}

/** Region is the names below one first segment, or those without one. */
export interface Region {
  folder: string
  counts: Record<Watch, number>
  all: number
  drifted: Spot[]
}

/** regionsOf lays out all layers and workspaces by the first segment of their names, with what has drifted first. */
export function regionsOf(layers: Layer[], workspaces: string[], drifted: ReadonlySet<string>): Region[] {
  const spots: Spot[] = layers.map((layer) => ({ name: layer.name, watch: watchOf(layer), drifted: layer.drifted }))
  const known = new Set(layers.map(({ name }) => name))
  for (const name of workspaces) if (!known.has(name)) spots.push({ name, watch: drifted.has(name) ? 'drifted' : 'none' })
  const regions = new Map<string, Region>()
  for (const spot of spots) {
    const folder = spot.name.slice(0, spot.name.indexOf('/') + 1)
    const region = regions.get(folder) ?? { folder, counts: { drifted: 0, planned: 0, unchecked: 0, off: 0, none: 0 }, all: 0, drifted: [] }
    regions.set(folder, region)
    region.counts[spot.watch]++
    region.all++
    if (spot.watch === 'drifted') region.drifted.push(spot)
  }
  for (const region of regions.values()) region.drifted.sort((a, b) => (b.drifted ?? 1) - (a.drifted ?? 1) || (a.name < b.name ? -1 : 1))
  return [...regions.values()].sort((a, b) => b.drifted.length - a.drifted.length || (a.folder < b.folder ? -1 : 1))
}

/** Wanted is which layers are listed. */
export interface Wanted {
  q?: string
  state?: string
  repository?: string
  watch?: string
}

/** isWanted says whether a layer passes the filters: each word stands somewhere in its name. */
export function isWanted(layer: Layer, { q = '', state, repository, watch }: Wanted): boolean {
  const name = layer.name.toLowerCase()
  return (
    q.toLowerCase().split(/\s+/).every((word) => name.includes(word)) &&
    (state === undefined || layer.state === state) &&
    (repository === undefined || layer.settings.repository === repository) &&
    (watch === undefined || watchOf(layer) === watch)
  )
}
