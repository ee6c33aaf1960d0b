import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { homeQuery } from '@/api/home'
import { driftQuery, layersQuery } from '@/api/layers'
import { workspacesQuery } from '@/api/runs'
import { useMay } from '@/api/session'
import type { DriftCause } from '@/api/types'
import { count } from '@/lib/size'
import { Badge } from '@/ui/Badge'
import { Section } from '@/ui/Page'
import { Some } from '@/ui/Some'
import { Await, Empty } from '@/ui/states'
import { Time } from '@/ui/Time'
import { DriftMap } from './DriftMap'
import { NoLayers } from './LayerList'
import styles from './layers.module.css'
import { Trend } from './Trend'
import { regionsOf } from './watch'

/** DriftTab is what differs from what was applied: as a map over all workspaces, day by day, and by its causes. */
export function DriftTab() {
  const may = useMay()
  const layers = useQuery(layersQuery)
  const workspaces = useQuery(workspacesQuery)
  const home = useQuery({ ...homeQuery, enabled: may('run:read') }).data
  const all = { data: layers.data && workspaces.data ? { layers: layers.data, workspaces: workspaces.data } : undefined, error: layers.error ?? workspaces.error, isPending: layers.isPending || workspaces.isPending, refetch: () => { void layers.refetch(); void workspaces.refetch() } }
  return (
    <>
      <Section title="Map">
        <Await query={all} what="the map of drift">
          {({ layers, workspaces }) =>
            layers.length + workspaces.length === 0 ? <NoLayers /> : <DriftMap regions={regionsOf(layers, workspaces.map(({ name }) => name), new Set(home?.runs?.drifted))} />
          }
        </Await>
      </Section>
      <Trend />
      <Causes />
    </>
  )
}

function Causes() {
  const drift = useQuery(driftQuery)
  return (
    <Section title="Causes">
      <Await query={drift} what="the causes of drift">
        {({ causes, cut }) =>
          causes.length === 0 ? (
            <Empty title="No layer has drifted.">Layers are checked every 20 minutes, or as their settings say; <code>holdfast layer check NAME</code> checks one now.</Empty>
          ) : (
            <>
              <p className="muted">What was changed in the same way stands here once, in however many layers.{cut ? ' There is more than is shown.' : ''}</p>
              <ul className={styles.causes} aria-label="Causes of drift">
                {causes.map((cause) => <li key={[cause.type, cause.action, ...cause.attributes].join(' ')}><Cause cause={cause} /></li>)}
              </ul>
            </>
          )
        }
      </Await>
    </Section>
  )
}

function Cause({ cause: { type, action, attributes, since, count: resources, layers, resources: some } }: { cause: DriftCause }) {
  return (
    <>
      <p className={styles.cause}>
        <Badge tone={action === 'deleted' ? 'loss' : 'person'}>{action}</Badge>
        <code>{type}</code>
        {attributes.length > 0 ? <span>{attributes.map((path) => <code key={path} className={styles.path}>{path}</code>)}</span> : null}
        <span className="muted">
          {count(resources, 'resource')} in {count(layers, 'layer')}, since <Time at={since} />
        </span>
      </p>
      <Some label={`Resources of ${type} ${action}`} className={styles.resources} items={some} itemKey={(one) => `${one.layer ?? ''} ${one.address}`}>
        {(one) => (
          <>
            <Link to="/layers/$" params={{ _splat: one.layer ?? '' }} search={{ tab: 'drift' }}>{one.layer}</Link>{' '}
            <Link to="/resources/history" search={{ state: one.layer ?? '', address: one.address }}><code>{one.address}</code></Link>
          </>
        )}
      </Some>
      {resources > some.length ? <p className="muted">and {(resources - some.length).toLocaleString()} more</p> : null}
    </>
  )
}
