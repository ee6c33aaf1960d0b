import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { RequestFailure } from '@/api/failure'
import { configure, settingsQuery } from '@/api/organization'
import type { OrganizationSetting, OrganizationSettings } from '@/api/types'
import { Button } from '@/ui/Button'
import { Facts } from '@/ui/Facts'
import { Section } from '@/ui/Page'
import { Await, Empty } from '@/ui/states'
import { Table, type Column } from '@/ui/Table'
import { inWords, kindOf, needsAnother } from './kept'
import { KeptDialog } from './KeptDialog'
import styles from './Settings.module.css'

/** Kept is what auth.cfg says of the organization: how its states are kept, and what else there is; to who may, it changes the former. */
export function Kept({ mayChange }: { mayChange: boolean }) {
  const settings = useQuery(settingsQuery)
  return (
    <Await query={settings} what="the organization’s settings">
      {(said) => (
        <>
          <AllStates said={said} mayChange={mayChange} />
          <SomeStates said={said} />
          <div className={styles.columns}>
            <Outside said={said} />
            <Others said={said} />
          </div>
        </>
      )}
    </Await>
  )
}

function AllStates({ said, mayChange }: { said: OrganizationSettings; mayChange: boolean }) {
  const client = useQueryClient()
  const [changing, setChanging] = useState<OrganizationSettings>()
  const change = useMutation({
    mutationFn: ({ version, changes }: { version: string; changes: { name: string; value: string }[] }) => configure(version, changes),
    onSuccess: (now) => {
      client.setQueryData(settingsQuery.queryKey, now)
      setChanging(undefined)
    },
    // What others have made of it meanwhile stands beside one's own then.
    onError: (error) => (error instanceof RequestFailure && error.code === 'settings_changed' ? client.invalidateQueries({ queryKey: settingsQuery.queryKey }) : undefined),
  })
  const columns: Column<OrganizationSetting>[] = [
    { title: 'Setting', width: '34%', cell: ({ name }) => kindOf(name).label },
    { title: 'Value', cell: (one) => <>{inWords(one)}{one.value === one.default ? <span className="muted"> (the default)</span> : null}</> },
    { title: 'Note', width: '30%', cell: ({ name }) => needsAnother(name, said.settings) ?? <span className="muted">{kindOf(name).means}</span>, secondary: true },
    { title: 'In auth.cfg', width: '12rem', cell: ({ name }) => <code>{name}</code>, secondary: true },
  ]
  return (
    <Section title="How states are kept" actions={mayChange ? <Button onClick={() => { change.reset(); setChanging(said) }}>Change…</Button> : null}>
      <Table label="How states are kept" keys={false} columns={columns} rows={said.settings} rowKey={({ name }) => name} />
      {changing ? (
        <KeptDialog
          base={changing}
          now={said}
          busy={change.isPending}
          error={change.error}
          onChange={(version, changes) => { change.mutate({ version, changes }) }}
          onClose={() => { setChanging(undefined) }}
        />
      ) : null}
    </Section>
  )
}

function SomeStates({ said: { sections } }: { said: OrganizationSettings }) {
  const columns: Column<NonNullable<typeof sections>[number]>[] = [
    { title: 'States', width: '40%', cell: ({ states }) => <code title={states.join('\n')}>{states.join(' ')}</code> },
    { title: 'Say', cell: ({ settings }) => settings.map(({ name, value }) => <div key={name}><code>{name} = {value}</code></div>) },
  ]
  if (sections === null) return <Section title="Otherwise of some states"><p className="muted">You see what holds for the organization: your key is for some states only.</p></Section>
  return (
    <Section title="Otherwise of some states">
      {sections.length > 0 ? (
        <>
          <Table label="Sections of states" keys={false} columns={columns} rows={sections} rowKey={(section) => String(sections.indexOf(section))} />
          <p className="muted">Of those that match a state, the last that says something of it holds. They are changed in <code>auth.cfg</code>.</p>
        </>
      ) : (
        <Empty title="Nothing is said otherwise of some states.">A section <code>[organization.states.name]</code> of <code>auth.cfg</code> does that.</Empty>
      )}
    </Section>
  )
}

const shown = { full: 'what their role has', summary: 'no bytes, and sensitive values masked', internal: 'no value at all; runs have everything' } as const

/** Outside is what leaves the organization, and what is shown of it. */
function Outside({ said: { state_access: access, notices, decisions, runs_local: local, audit_days: days, upload_days: uploads } }: { said: OrganizationSettings }) {
  return (
    <Section title="Who is shown and told what">
      <Facts
        facts={[
          ['States', <><code>{access}</code>: people are shown {shown[access]}</>],
          ['Notices', notices ? <>are posted, {notices.signed ? 'signed' : 'not signed'}{notices.header ? ', with a header of the receiver’s own' : ''}: {notices.events.length > 0 ? notices.events.join(', ') : 'the usual events'}</> : <>go nowhere. The other settings of notices need <code>notify_url</code>.</>],
          ['Plans', decisions ? <>a service outside decides, asked {decisions.signed ? 'signed' : 'without a signature'}; where it does not answer, plans {decisions.fail_open ? 'are applied' : 'are not applied'}</> : <>no service outside is asked. The other settings of decisions need <code>decision_url</code>.</>],
          ['Runs', local ? 'the server itself executes them' : 'agents execute them'],
          ['Audit log', days === 0 ? 'entries are kept for ever' : <>entries go after {days === 1 ? 'a day' : `${days} days`}; what is left still verifies</>],
          ['Uploads', uploads === 0 ? 'records are kept for ever' : `records go after ${uploads} days`],
        ]}
      />
    </Section>
  )
}

/** Others is what other servers call the organization, and where the rest is set. */
function Others({ said: { aliases } }: { said: OrganizationSettings }) {
  return (
    <Section title="Names, gates and limits">
      <Facts
        facts={[
          ['Aliases', aliases === null ? 'are not shown to keys for some states' : aliases.length === 0 ? 'none: other servers’ addresses lead nowhere here' : <ul>{aliases.map(({ id, folder }) => <li key={id}><code>{id}</code>{folder === undefined ? '' : <> is the folder <code>{folder}</code></>}</li>)}</ul>],
          ['Gates', 'approvals, gates and the most that a plan may cost are set of each workspace: holdfast workspace set'],
          ['Waivers', <Link to="/settings" search={{ tab: 'policies' }}>Policies, waivers and prices</Link>],
          ['Limits', <Link to="/settings">What is used, and how much there may be</Link>],
        ]}
      />
    </Section>
  )
}
