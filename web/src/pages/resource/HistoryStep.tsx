import { Link } from '@tanstack/react-router'
import type { ResourceChange, Step } from '@/api/types'
import { AttributeChanges, valueText } from '@/ui/AttributeChanges'
import { Badge, type Tone } from '@/ui/Badge'
import { Time } from '@/ui/Time'
import styles from './HistoryPage.module.css'

const tones: Record<ResourceChange['action'], Tone> = { added: 'done', changed: 'going', moved: 'still', removed: 'loss' }

/** HistoryStep is one version in which the resource changed: when, by whom, from which run, and how. */
export function HistoryStep({ step: { version, against, changes }, state }: { step: Step; state: string }) {
  const who = version.who ?? version.subject ?? version.key_name ?? version.key_id
  return (
    <li className={styles.step}>
      <div className={styles.head}>
        <Link to="/states/$" params={{ _splat: state }} search={{ version: version.version, ...(against > 0 ? { against } : {}) }}>
          Version {version.version}
        </Link>
        <span className="muted">
          <Time at={version.created_at} /> by {who}
        </span>
        {version.run ? <Link to="/runs/$id" params={{ id: version.run }}>its run</Link> : null}
        {version.operation ? <span className="muted">{version.operation}</span> : null}
      </div>
      <div>
        {changes.map((change) => (
          <div key={change.address + (change.deposed ?? '')} className={styles.change}>
            <p>
              <Badge tone={tones[change.action]}>{against === 0 ? 'as it was first' : change.action}</Badge>{' '}
              {change.previous ? (
                <span className="muted">
                  from <code>{change.previous.address}</code> to <code>{change.address}</code>
                </span>
              ) : null}
              {change.deposed ? <span className="muted"> deposed object {change.deposed}</span> : null}
            </p>
            {(against === 0 ? [] : change.fields ?? []).map(({ field, before, after }) => (
              <p key={field} className="muted">
                {field}: {valueText(before)} → {valueText(after)}
              </p>
            ))}
            {change.attributes && change.attributes.length > 0 ? <AttributeChanges changes={change.attributes} /> : null}
          </div>
        ))}
      </div>
    </li>
  )
}
