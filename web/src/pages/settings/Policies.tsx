import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { bundleQuery, policiesQuery, pushPolicy, removePolicy } from '@/api/policies'
import type { Policy } from '@/api/types'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Menu } from '@/ui/Menu'
import { Section } from '@/ui/Page'
import { Await, Empty, Failed } from '@/ui/states'
import { Table, type Column } from '@/ui/Table'
import { Time } from '@/ui/Time'
import { NameTyped } from './NameTyped'
import { PolicyDialog, type Wanted } from './PolicyDialog'
import { emptyBundle } from './policyFiles'

const tones = { advise: 'still', hold: 'going', refuse: 'done' } as const

/** Policies is the bundles of policies, waivers and prices that plans are shown to; to who may, it edits them. */
export function Policies({ mayChange }: { mayChange: boolean }) {
  const client = useQueryClient()
  const policies = useQuery(policiesQuery)
  const [asked, setAsked] = useState<{ kind: 'new' } | { kind: 'edit' | 'remove'; policy: Policy }>()
  const act = useMutation({
    mutationFn: (work: () => Promise<unknown>) => work(),
    onSuccess: async () => {
      setAsked(undefined)
      await client.invalidateQueries({ queryKey: policiesQuery.queryKey })
    },
  })
  const ask = (next: typeof asked) => {
    act.reset()
    setAsked(next)
  }
  const push = ({ where, enforce, files, message }: Wanted) => { act.mutate(() => pushPolicy(where, enforce, files, message)) }
  const dialog = { busy: act.isPending, error: act.error, onDone: push, onClose: () => { ask(undefined) } }
  const columns: Column<Policy>[] = [
    { title: 'Bundle', cell: ({ name }) => <code>{name}</code> },
    { title: 'For', width: '14rem', cell: ({ workspace }) => (workspace ? <code>{workspace}</code> : 'the organization') },
    { title: 'Enforced', width: '8rem', cell: ({ enforce }) => <Badge tone={tones[enforce]}>{enforce}</Badge> },
    { title: 'Version', width: '6rem', cell: ({ version }) => version },
    { title: 'Rules', width: '6rem', cell: ({ rules }) => rules, secondary: true },
    { title: 'Tests', width: '6rem', cell: ({ tests }) => tests, secondary: true },
    { title: 'Pushed', width: '8rem', cell: ({ created_at: made }) => <Time at={made} />, secondary: true },
    ...(mayChange ? [{
      title: '', width: '3rem', cell: (policy: Policy) => (
        <Menu label={`${nameOf(policy)}: edit or remove`} items={[
          { label: 'Edit…', run: () => { ask({ kind: 'edit', policy }) } },
          { label: 'Remove…', loss: true, run: () => { ask({ kind: 'remove', policy }) } },
        ]}>⋯</Menu>
      ),
    }] : []),
  ]
  return (
    <Section title="Policies, waivers and prices" actions={mayChange ? <Button kind="main" onClick={() => { ask({ kind: 'new' }) }}>Make a bundle</Button> : null}>
      {act.error && !asked ? <Failed error={act.error} again={() => { act.reset() }} /> : null}
      <Await query={policies} what="policies">
        {(all) =>
          all.length > 0 ? (
            <Table label="Policies" columns={columns} rows={all} rowKey={nameOf} keys={false} />
          ) : (
            <Empty title="There is no bundle yet.">
              Built-in rules look at every plan. A bundle has rules of your own, waivers for what is meant to be, and prices in the place of the shipped ones.
            </Empty>
          )
        }
      </Await>
      {asked?.kind === 'new' ? <PolicyDialog bundle={emptyBundle()} {...dialog} /> : null}
      {asked?.kind === 'edit' ? <EditDialog policy={asked.policy} {...dialog} /> : null}
      {asked?.kind === 'remove' ? (
        <NameTyped title={`Remove the bundle ${asked.policy.name}?`} name={asked.policy.name} verb="Remove" busy={act.isPending} error={act.error} onDone={() => { act.mutate(() => removePolicy(asked.policy)) }} onClose={() => { ask(undefined) }}>
          <p>It goes with all its versions, its waivers and its prices. Plans that wait and were shown to it are out of date then.</p>
        </NameTyped>
      ) : null}
    </Section>
  )
}

function nameOf({ workspace, name }: Policy): string {
  return workspace ? `${workspace}/${name}` : name
}

/** EditDialog opens the newest version of a bundle. */
function EditDialog({ policy, ...dialog }: { policy: Policy; busy: boolean; error: unknown; onDone: (wanted: Wanted) => void; onClose: () => void }) {
  const bundle = useQuery(bundleQuery(policy))
  return <Await query={bundle} what="the bundle">{({ contents, policy: newest }) => <PolicyDialog bundle={{ name: newest.name, workspace: newest.workspace ?? '', enforce: newest.enforce, files: contents }} known {...dialog} />}</Await>
}
