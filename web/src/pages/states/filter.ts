import type { State, Workspace } from '@/api/types'
import type { Entry } from './tree'

export type Only = 'all' | 'locked' | 'held' | 'empty' | 'deleted'

/** foundEntries joins states that the server has found with workspaces that pass the same filter: all words are in the name. */
export function foundEntries(states: State[], workspaces: Workspace[], words: string[], only: Only): Entry[] {
  const fits = ({ name }: { name: string }) => words.every((word) => name.toLowerCase().includes(word))
  const byName = new Map(workspaces.map((workspace) => [workspace.name, workspace]))
  const all = new Map<string, Entry>(states.filter(fits).map((state) => [state.name, { name: state.name, state, workspace: byName.get(state.name) }]))
  if (only === 'all' || only === 'empty') {
    for (const workspace of workspaces.filter(fits)) {
      // A workspace whose snapshot was never applied has no state; one that has is found by it.
      if (!all.has(workspace.name)) all.set(workspace.name, { name: workspace.name, workspace })
    }
  }
  return [...all.values()].filter(({ state }) => only !== 'empty' || !state?.version).sort((a, b) => (a.name < b.name ? -1 : 1))
}
