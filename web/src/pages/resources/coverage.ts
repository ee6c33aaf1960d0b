import type { CoverageStatus, Resource } from '@/api/types'

/** A status of coverage: how it is called, what it means, and in which tone it is shown. */
export interface Status {
  id: CoverageStatus
  label: string
  means: string
  tone: 'done' | 'person' | 'loss' | 'still'
}

export const statuses: Status[] = [
  { id: 'managed', label: 'Managed', means: 'in a state, and seen in the cloud', tone: 'done' },
  { id: 'unmanaged', label: 'Unmanaged', means: 'seen in the cloud, in no state', tone: 'person' },
  { id: 'missing', label: 'Missing', means: 'in a state, not seen although others of its type were', tone: 'loss' },
  { id: 'claimed_twice', label: 'Claimed twice', means: 'the same object in two states, or at two addresses', tone: 'loss' },
  { id: 'unmatched', label: 'Unmatched', means: 'nothing says what to compare it with', tone: 'still' },
]

/** Part is a part of a bar: its share of the width, between 0 and 1. */
export interface Part {
  status: Status
  count: number
  share: number
}

/**
 * partsOf divides a bar among the statuses of which each resource has one. Nothing is too thin to be clicked: a
 * part has at least a fiftieth, which the larger ones give up.
 */
export function partsOf(counts: Record<string, number> | undefined): Part[] {
  const present = statuses.filter(({ id }) => id !== 'claimed_twice').map((status) => ({ status, count: counts?.[status.id] ?? 0 })).filter(({ count }) => count > 0)
  const sum = present.reduce((all, { count }) => all + count, 0)
  const floor = 0.02
  const widths = present.map(({ count }) => Math.max(count / sum, floor))
  const wide = widths.reduce((all, width) => all + width, 0)
  return present.map((part, index) => ({ ...part, share: widths[index]! / wide }))
}

/** claimsOf is the part of a bar that is claimed twice, which is managed or missing besides, and the part that is not. */
export function claimsOf(counts: Record<string, number> | undefined): { twice: Part; rest: number } | null {
  const count = counts?.claimed_twice ?? 0
  const all = partsOf(counts).reduce((sum, part) => sum + part.count, 0)
  if (count === 0 || all === 0) return null
  const share = Math.min(1, Math.max(count / all, 0.02))
  return { twice: { status: statuses.find(({ id }) => id === 'claimed_twice')!, count, share }, rest: 1 - share }
}

/** byType counts resources by their type, the most frequent first. */
export function byType(resources: Resource[]): [type: string, count: number][] {
  const counts = new Map<string, number>()
  for (const { type } of resources) counts.set(type, (counts.get(type) ?? 0) + 1)
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
}
