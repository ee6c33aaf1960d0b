import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { madeQuery } from '@/api/layers'
import type { Layer, Run } from '@/api/types'
import { countsOf } from '@/pages/runs/RunTable'
import { Badge } from '@/ui/Badge'
import { Copyable } from '@/ui/Copyable'
import { RunBadge } from '@/ui/RunBadge'
import { Await, Empty } from '@/ui/states'
import { Time } from '@/ui/Time'
import { chainOf, type Link as Chained } from './chain'
import styles from './layer.module.css'

/** Commits is what changed, why that is something to this layer or nothing, and what came of it: runs, and the versions that they left behind. */
export function Commits({ layer }: { layer: Layer }) {
  const made = useQuery(madeQuery(layer.name))
  const commits = layer.commits ?? []
  if (commits.length === 0) {
    return (
      <Empty title="No commit was looked at yet.">
        The branch <code>{layer.settings.branch}</code> of <Link to="/layers" search={{ tab: 'repositories' }}>{layer.settings.repository}</Link> has to be fetched first.
      </Empty>
    )
  }
  return (
    <Await query={made} what="what came of commits">
      {(all) => (
        <ol className={styles.commits} aria-label="Commits, the newest first">
          {chainOf(commits, all, layer.settings.repository).map((link) => (
            <li key={link.commit.commit}><One link={link} layer={layer} /></li>
          ))}
        </ol>
      )}
    </Await>
  )
}

function One({ link: { commit, runs }, layer: { planned_commit: planned, applied_commit: applied } }: { link: Chained; layer: Layer }) {
  return (
    <>
      <p className={styles.commit}>
        <Copyable value={commit.commit} short={commit.commit.slice(0, 12)} label="commit" />
        <strong>{commit.subject}</strong>
        <span className="muted"><Time at={commit.at} /></span>
        {commit.commit === planned ? <Badge tone="done">planned last</Badge> : null}
        {commit.commit === applied ? <Badge tone="done">applied last</Badge> : null}
      </p>
      <p className={styles.why}>
        <Badge tone={commit.relevant ? 'going' : 'still'}>{commit.relevant ? 'relevant' : 'not relevant'}</Badge> <span>{commit.why}</span>
      </p>
      {runs.length > 0 ? (
        <ul aria-label={`Runs of ${commit.commit.slice(0, 12)}`} className={styles.runs}>
          {runs.map((run) => <li key={run.id}><CameOf run={run} /></li>)}
        </ul>
      ) : null}
    </>
  )
}

/** CameOf is a run of a commit, and the version of the state that it has left behind, which shows the resources. */
function CameOf({ run }: { run: Run }) {
  return (
    <>
      <span aria-hidden="true">→</span> <Link to="/runs/$id" params={{ id: run.id }}>{run.kind} …{run.id.slice(-8)}</Link> <RunBadge run={run} /> {countsOf(run)}
      {run.version_after ? (
        <>
          {' '}
          <span aria-hidden="true">→</span> <Link to="/states/$" params={{ _splat: run.workspace }} search={{ version: run.version_after }}>version {run.version_after}</Link>
        </>
      ) : null}
    </>
  )
}
