import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { fetchRepository, layersQuery, repositoriesQuery } from '@/api/layers'
import { useMay } from '@/api/session'
import type { Repository } from '@/api/types'
import { bytes, count } from '@/lib/size'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Copyable } from '@/ui/Copyable'
import { Facts } from '@/ui/Facts'
import { Some } from '@/ui/Some'
import { Await, Empty, Failed } from '@/ui/states'
import { Time } from '@/ui/Time'
import { healthOf } from './health'
import styles from './layers.module.css'

/** Repositories is how each repository does: whether it is fetched, since when not and why, and the newest commit of each branch. */
export function Repositories() {
  const query = useQuery(repositoriesQuery)
  return (
    <Await query={query} what="repositories">
      {(all) =>
        all.length === 0 ? (
          <Empty title="There is no repository yet."><code>holdfast repo add NAME URL</code> registers one, and prints the secret for its webhook.</Empty>
        ) : (
          all.map((repository) => <One key={repository.name} repository={repository} />)
        )
      }
    </Await>
  )
}

function One({ repository }: { repository: Repository }) {
  const client = useQueryClient()
  const may = useMay()
  const layers = useQuery(layersQuery).data?.filter(({ settings }) => settings.repository === repository.name).length ?? 0
  const fetching = useMutation({ mutationFn: () => fetchRepository(repository.name), onSettled: () => client.invalidateQueries({ queryKey: repositoriesQuery.queryKey }) })
  const { status } = repository
  const health = healthOf(status)
  const webhook = new URL(repository.webhook, location.origin).href // a path where the server has no public_url
  const heads = Object.entries(status.heads ?? {})
  return (
    <section className={styles.repository} aria-label={`Repository ${repository.name}`}>
      <header className={styles.repositoryHead}>
        <h2>{repository.name}</h2>
        <Badge tone={health.tone}>{health.words}</Badge>
        <Link to="/layers" search={{ repository: repository.name }}>{count(layers, 'layer')}</Link>
        {may('repository:write') ? (
          <Button busy={fetching.isPending} onClick={() => { fetching.mutate() }}>
            Fetch now<span className="visually-hidden"> {repository.name}</span>
          </Button>
        ) : null}
      </header>
      {fetching.error ? <Failed error={fetching.error} again={() => { fetching.reset() }} /> : null}
      {status.problem ? <p className={styles.problem}>{status.problem}</p> : null}
      <Facts
        facts={[
          ['URL', <Copyable value={repository.url} label={`URL of ${repository.name}`} />],
          ['Webhook', <Copyable value={webhook} label={`webhook address of ${repository.name}`} />],
          ['Fetched', <Time at={status.fetched_at} />],
          ['Last tried', status.failures ? <><Time at={status.tried_at} />, {count(status.failures, 'failure')} since it was fetched</> : undefined],
          ['Looked at', `every ${String(Math.round(repository.poll / 60))} min, and when its webhook says so`],
          ['Fetched with', repository.credential === 'none' ? 'no credential' : repository.credential.replace('_', ' ')],
          ['Mirror', status.bytes ? bytes(status.bytes) : undefined],
        ]}
      />
      {heads.length > 0 ? (
        <Some label={`Branches of ${repository.name}`} className={styles.heads} items={heads} itemKey={([branch]) => branch}>
          {([branch, commit]) => <>{branch} <Copyable value={commit} short={commit.slice(0, 12)} label={`newest commit of ${branch}`} /></>}
        </Some>
      ) : null}
    </section>
  )
}
