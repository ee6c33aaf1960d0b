import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useMay } from '@/api/session'
import { candidateDiffQuery, candidatesQuery, discard, promote } from '@/api/states'
import type { Candidate } from '@/api/types'
import { bytes } from '@/lib/size'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Facts } from '@/ui/Facts'
import { Reason } from '@/ui/Reason'
import { Await, Empty } from '@/ui/states'
import { Time } from '@/ui/Time'
import { useChanged } from './changed'
import { StateDiff } from './StateDiff'
import styles from './StatePage.module.css'

const sources: Record<string, string> = {
  held: 'a guard kept it back',
  fenced: 'its run may not write any more',
  pushed: 'somebody brought it',
}

/** CandidateList shows what was kept back, each with its difference to the newest version. */
export function CandidateList({ name, newest }: { name: string; newest: number }) {
  const query = useQuery(candidatesQuery(name))
  return (
    <Await query={query} what="candidates">
      {({ candidates }) =>
        candidates.length === 0 ? (
          <Empty title="Nothing was kept back.">What a guard holds, and what somebody brings as a candidate, waits here.</Empty>
        ) : (
          <ul className={styles.candidates}>
            {candidates.map((candidate) => (
              <li key={candidate.id}>
                <One name={name} candidate={candidate} newest={newest} />
              </li>
            ))}
          </ul>
        )
      }
    </Await>
  )
}

function One({ name, candidate, newest }: { name: string; candidate: Candidate; newest: number }) {
  const may = useMay()
  const changed = useChanged(name)
  const [doing, setDoing] = useState<'promote' | 'discard'>()
  const open = candidate.status === 'open'
  const diff = useQuery({ ...candidateDiffQuery(name, candidate.id), enabled: open && may('state:read') })
  const older = candidate.base_version !== newest
  const close = () => { setDoing(undefined) }
  return (
    <section aria-label={`Candidate ${candidate.id}`}>
      <div className={styles.chosen}>
        <h2>
          <Badge tone={open ? 'person' : candidate.status === 'promoted' ? 'done' : 'still'}>{candidate.status}</Badge> <Time at={candidate.created_at} /> by {candidate.who ?? candidate.key_name ?? candidate.key_id}
        </h2>
        {open && may('state:write') ? (
          <span className={styles.actions}>
            <Button onClick={() => { setDoing('promote') }}>Promote…</Button>
            <Button kind="loss" onClick={() => { setDoing('discard') }}>Discard…</Button>
          </span>
        ) : null}
      </div>
      <Facts
        facts={[
          ['Kept because', sources[candidate.source] ?? candidate.source],
          ['Findings', candidate.warnings?.length ? <Badge tone="person">{candidate.warnings.join(', ')}</Badge> : undefined],
          ['Made for', `version ${String(candidate.base_version)}${open && older ? `; the newest is ${String(newest)} by now` : ''}`],
          ['Serial, size', `${String(candidate.serial)}, ${bytes(candidate.size)}`],
          ['Decided', candidate.decided_at && <Time at={candidate.decided_at} />],
          ['Reason', candidate.origin?.reason],
        ]}
      />
      {open && may('state:read') ? (
        <Await query={diff} what="the difference">
          {(data) => <StateDiff diff={data} />}
        </Await>
      ) : null}
      <Reason
        title="Promote the candidate"
        open={doing === 'promote'}
        onClose={close}
        does="Promote"
        act={async (reason) => {
          await promote(name, candidate.id, reason, older)
          await changed()
        }}
      >
        <p>
          It becomes version {newest + 1} of {name}.{older ? ` It was made for version ${String(candidate.base_version)}: what came since is not in it.` : ''} The versions before it stay.
        </p>
      </Reason>
      <Reason
        title="Discard the candidate"
        open={doing === 'discard'}
        onClose={close}
        does="Discard"
        loss
        typed={name}
        act={async (reason) => {
          await discard(name, candidate.id, reason)
          await changed()
        }}
      >
        <p>Its bytes go for good; who made it may have them still in an <code>errored.tfstate</code>.</p>
      </Reason>
    </section>
  )
}
