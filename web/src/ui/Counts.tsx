import type { Run } from '@/api/types'

/** countsText is what a plan would do, as the tools write it. */
export function countsText(counts: Run['counts']): string {
  if (!counts) return ''
  return counts.any ? `+${String(counts.add)} ~${String(counts.change)} -${String(counts.destroy)}` : 'no changes'
}

/** Counts says so in a line of its own. */
export function Counts({ counts }: { counts: NonNullable<Run['counts']> }) {
  return <p><strong>{countsText(counts)}</strong></p>
}
