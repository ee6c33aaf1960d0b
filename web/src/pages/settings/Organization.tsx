import { useQuery } from '@tanstack/react-query'
import { standingQuery } from '@/api/organization'
import type { Identity, Share } from '@/api/types'
import { bytes } from '@/lib/size'
import { Copyable } from '@/ui/Copyable'
import { Section } from '@/ui/Page'
import { Await } from '@/ui/states'
import { Time } from '@/ui/Time'
import styles from './Settings.module.css'

/** Organization is what whoami says: who the reader is, and what the organization uses and may use. */
export function Organization() {
  const standing = useQuery(standingQuery)
  return (
    <Await query={standing} what="the organization">
      {(who) => (
        <div className={styles.columns}>
          <About who={who} />
          <Uses who={who} />
        </div>
      )}
    </Await>
  )
}

function About({ who }: { who: Identity }) {
  return (
    <Section title="You and your organization">
      <dl className={styles.facts}>
        <Fact name="Organization">{who.org_name || 'without a name'}</Fact>
        <Fact name="Its ID"><Copyable value={who.org_id} label="organization ID" /></Fact>
        <Fact name="You are">{who.subject || who.key_name || who.key_id} <span className="muted">({who.key_id})</span></Fact>
        <Fact name="Role">{who.role || 'run'}</Fact>
        <Fact name="States">{who.states === null ? 'every state' : who.states.map((pattern) => <code key={pattern}>{pattern} </code>)}</Fact>
        <Fact name="Ends">{who.expires === null ? 'never' : <Time at={who.expires} />}</Fact>
        <Fact name="Seen from">{who.address}</Fact>
        <Fact name="Rights">
          <ul className={styles.rights}>{(who.rights ?? []).map((right) => <li key={right}><code>{right}</code></li>)}</ul>
        </Fact>
      </dl>
    </Section>
  )
}

function Uses({ who: { quota, runs, limits } }: { who: Identity }) {
  return (
    <Section title="Quotas and limits">
      <dl className={styles.facts}>
        {quota ? (
          <>
            <Used name="Stored" used={quota.used} limit={quota.limit} say={bytes} />
            <Fact name="of that, states">{bytes(quota.states)}</Fact>
            <Fact name="of that, uploads">{bytes(quota.uploads)}</Fact>
          </>
        ) : null}
        {runs ? (
          <>
            <Used name="Logs and files of runs" {...shareOf(runs.files)} say={bytes} />
            {runs.configurations ? <Used name="Configurations" {...shareOf(runs.configurations)} say={bytes} /> : null}
            <Used name="Runs kept" {...shareOf(runs.recorded)} say={plain} />
            <Used name="Runs waiting" {...shareOf(runs.waiting)} say={plain} />
            <Used name="Runs working" {...shareOf(runs.working)} say={plain} />
          </>
        ) : null}
        <Fact name="Requests to states">{perMinute(limits.state_rate_limit, limits.state_rate_left)}</Fact>
        <Fact name="Requests to uploads">{perMinute(limits.rate_limit, limits.rate_left)}</Fact>
      </dl>
      <p className="muted">These are set by who runs the server, in <code>auth.cfg</code>.</p>
    </Section>
  )
}

const plain = (number: number) => number.toLocaleString()

function shareOf({ used, limit }: Share) {
  return { used, limit }
}

function perMinute(limit: number | null, left: number | undefined): string {
  if (limit === null) return 'no limit'
  return `${limit.toLocaleString()} a minute${left === undefined ? '' : `, ${left.toLocaleString()} left now`}`
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Used({ name, used, limit, say }: { name: string; used: number; limit: number | null; say: (number: number) => string }) {
  return (
    <Fact name={name}>
      {limit === null ? (
        `${say(used)}, no limit`
      ) : (
        <>
          {say(used)} of {say(limit)} <meter className={styles.meter} min={0} max={limit || 1} high={limit * 0.8} value={used} aria-label={`${name}: ${say(used)} of ${say(limit)}`} />
        </>
      )}
    </Fact>
  )
}
