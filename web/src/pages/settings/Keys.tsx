import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { keysQuery, makeKey, revokeKey, rotateKey } from '@/api/keys'
import type { Key, KeyMade } from '@/api/types'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Menu } from '@/ui/Menu'
import { Section } from '@/ui/Page'
import { Await, Empty, Failed } from '@/ui/states'
import { Table, type Column } from '@/ui/Table'
import { Time } from '@/ui/Time'
import { MakeKey } from './MakeKey'
import { NameTyped } from './NameTyped'
import { Secret } from './Secret'

/** Keys lists who may come in; to who may, it makes, rotates and revokes keys. */
export function Keys({ mayChange }: { mayChange: boolean }) {
  const client = useQueryClient()
  const keys = useQuery(keysQuery)
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<KeyMade>()
  const [going, setGoing] = useState<Key>()
  const read = () => client.invalidateQueries({ queryKey: keysQuery.queryKey })
  const show = (key: KeyMade) => {
    setMaking(false)
    setMade(key)
    void read()
  }
  const make = useMutation({ mutationFn: makeKey, onSuccess: show, gcTime: 0 })
  const rotate = useMutation({ mutationFn: (id: string) => rotateKey(id), onSuccess: show, gcTime: 0 })
  const revoke = useMutation({
    mutationFn: revokeKey,
    onSuccess: () => {
      setGoing(undefined)
      void read()
    },
  })
  const columns: Column<Key>[] = [
    { title: 'Key', cell: (key) => <><Link to="/audit" search={{ key: key.id }} title={`What ${key.id} did`}>{key.name || key.id}</Link>{key.own ? <span className="muted"> (yours)</span> : null}</> },
    { title: 'Kind', width: '5.5rem', cell: ({ kind }) => (kind === 'key' ? 'key' : <span title="A rule of auth.cfg, which is changed there">{kind} rule</span>), secondary: true },
    { title: 'Role', width: '7rem', cell: ({ role }) => role },
    { title: 'States', width: '16%', cell: ({ states }) => (states === null ? 'every state' : <code title={states.join('\n')}>{states.join(' ')}</code>), secondary: true },
    { title: 'From', width: '13%', cell: ({ from }) => from?.join(' ') ?? 'anywhere', secondary: true },
    { title: 'Ends', width: '6.5rem', cell: ({ expires }) => <Ends at={expires} /> },
    { title: 'Last used', width: '18%', cell: ({ used_at: at, used_from: from }) => (at === null ? <span className="muted">not lately</span> : <><Time at={at} />{from === '' ? '' : ` from ${from}`}</>), secondary: true },
    ...(mayChange
      ? [{
          title: 'Do',
          width: '3.5rem',
          cell: (key: Key) =>
            key.kind !== 'key' ? null : (
              <Menu
                label={`${key.name || key.id}: rotate or revoke`}
                items={[
                  { label: 'Rotate', run: () => { rotate.mutate(key.id) } },
                  { label: 'Revoke…', loss: true, run: () => { setGoing(key) } },
                ]}
              >
                ⋯
              </Menu>
            ),
        }]
      : []),
  ]
  return (
    <Section title="Keys" actions={mayChange ? <Button kind="main" onClick={() => { make.reset(); setMaking(true) }}>Make a key</Button> : null}>
      {rotate.error ? <Failed error={rotate.error} again={() => { rotate.reset() }} /> : null}
      <Await query={keys} what="keys">
        {(all) => (all.length > 0 ? <Table label="Keys" columns={columns} rows={all} rowKey={({ id }) => id} /> : <Empty title="There are no keys that you may see." />)}
      </Await>
      {making ? <MakeKey busy={make.isPending} error={make.error} onMake={(wanted) => { make.mutate(wanted) }} onClose={() => { setMaking(false) }} /> : null}
      {made ? (
        <Secret title={`The key ${made.name || made.id}`} text={made.key} what="key" onClose={() => { setMade(undefined); make.reset(); rotate.reset() }}>
          {made.old ? <p>The old one is good until <Time at={made.old.expires} />, as {made.old.name || made.old.id}.</p> : null}
        </Secret>
      ) : null}
      {going ? (
        <NameTyped title={`Revoke ${going.name || going.id}?`} name={going.name || going.id} verb="Revoke" busy={revoke.isPending} error={revoke.error} onDone={() => { revoke.mutate(going.id) }} onClose={() => { setGoing(undefined); revoke.reset() }}>
          <p>
            Whatever uses it is refused from now on{going.own ? ', you too' : ''}. It can’t be brought back; what it did stays in the audit log.
          </p>
        </NameTyped>
      ) : null}
    </Section>
  )
}

function Ends({ at }: { at: string | null }) {
  if (at === null) return <span className="muted">never</span>
  if (new Date(at) < new Date()) return <Badge tone="still">ended</Badge>
  return <Time at={at} />
}
