import type { Entry } from './tree'

export type Only = 'all' | 'locked' | 'held' | 'empty'

/** matches says whether an entry is wanted: all words are in its name, and it is of the wanted kind. */
export function matches(entry: Entry, words: string, only: Only): boolean {
  const name = entry.name.toLowerCase()
  if (!words.toLowerCase().split(/\s+/).every((word) => name.includes(word))) return false
  switch (only) {
    case 'locked':
      return entry.state?.lock != null
    case 'held':
      return (entry.state?.open_candidates ?? 0) > 0
    case 'empty':
      return entry.state?.version == null
    default:
      return true
  }
}
