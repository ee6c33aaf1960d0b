import type { Made } from '@/api/layers'
import type { LayerCommit, Run } from '@/api/types'

/** Link is a commit with the runs that have its configuration, the newest first. */
export interface Link {
  commit: LayerCommit
  runs: Run[]
}

/** commitOf is the commit that the message of a configuration names, which a layer has brought; undefined for one that somebody pushed. */
export function commitOf(message: string | undefined): { commit: string; repository: string } | undefined {
  const [, commit, repository] = /^commit ([0-9a-f]{40,64}) of ([\w.-]{1,64})$/.exec(message ?? '') ?? []
  return commit === undefined || repository === undefined ? undefined : { commit, repository }
}

/** chainOf joins commits with what came of them. */
export function chainOf(commits: LayerCommit[], { runs, snapshots }: Made, repository: string): Link[] {
  const byCommit = new Map<string, Run[]>()
  const named = new Map<string, string>()
  for (const { id, message } of snapshots) {
    const of = commitOf(message)
    if (of?.repository === repository) named.set(id, of.commit)
  }
  for (const run of runs) {
    const commit = named.get(run.snapshot)
    if (commit !== undefined && run.kind !== 'drift') byCommit.set(commit, [...(byCommit.get(commit) ?? []), run])
  }
  return commits.map((commit) => ({ commit, runs: byCommit.get(commit.commit) ?? [] }))
}
