import { Link } from '@tanstack/react-router'
import type { Layer, LayerCondition } from '@/api/types'
import { count } from '@/lib/size'
import { Badge, type Tone } from '@/ui/Badge'
import { Facts } from '@/ui/Facts'
import { Section } from '@/ui/Page'
import { Time } from '@/ui/Time'
import styles from './layer.module.css'

/** Conditions is all that is said of the layer, and of the run that it waits for: each with why, and since when. */
export function Conditions({ layer }: { layer: Layer }) {
  const { run } = layer
  return (
    <>
      <Section title="Conditions of the layer">
        <ConditionTable label="Conditions of the layer" conditions={layer.conditions} />
      </Section>
      <Facts
        facts={[
          ['Failures', layer.failures > 0 ? <>{count(layer.failures, 'failure')} one after another{layer.retry_at ? <>, tried again <Time at={layer.retry_at} /></> : null}</> : undefined],
          ['Checked for drift', <Time at={layer.checked_at} />],
        ]}
      />
      {run ? (
        <Section title={run.ended ? 'The last run' : 'The run that goes on'}>
          <p className={styles.run}>
            <Badge tone={runTones[run.state]}>{run.state}</Badge>
            {run.id ? <Link to="/runs/$id" params={{ id: run.id }}>{run.kind}, run …{run.id.slice(-8)}</Link> : <span>{run.kind}, being made</span>}
            <span>{run.why}</span>
            <span className="muted">since <Time at={run.at} /></span>
          </p>
          <ConditionTable label="Conditions of the run" conditions={run.conditions} />
        </Section>
      ) : null}
    </>
  )
}

const runTones: Record<NonNullable<Layer['run']>['state'], Tone> = { Initial: 'still', Running: 'going', FailureGracePeriod: 'person', Retrying: 'going', Succeeded: 'done', Failed: 'loss' }
const statusTones: Record<LayerCondition['status'], Tone> = { True: 'done', False: 'still', Unknown: 'person' }

function ConditionTable({ label, conditions }: { label: string; conditions: LayerCondition[] }) {
  return (
    <table aria-label={label} className={styles.conditions}>
      <thead>
        <tr>
          <th scope="col">Condition</th>
          <th scope="col">Status</th>
          <th scope="col">Reason</th>
          <th scope="col">Message</th>
          <th scope="col">Since</th>
        </tr>
      </thead>
      <tbody>
        {conditions.map(({ type, status, reason, message, last_transition_time: since }) => (
          <tr key={type}>
            <th scope="row">{type}</th>
            <td><Badge tone={statusTones[status]}>{status}</Badge></td>
            <td><code>{reason}</code></td>
            <td>{message}</td>
            <td><Time at={since} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
