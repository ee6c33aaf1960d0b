import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { changePool, createPool, poolsQuery, removePool, rotatePool } from '@/api/pools'
import type { Agent, Pool } from '@/api/types'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Copyable } from '@/ui/Copyable'
import { Menu } from '@/ui/Menu'
import { Section } from '@/ui/Page'
import { Await, Empty, Failed } from '@/ui/states'
import { Table, type Column } from '@/ui/Table'
import { Time } from '@/ui/Time'
import { NameTyped } from './NameTyped'
import { PoolDialog } from './PoolDialog'
import { Secret } from './Secret'
import styles from './Settings.module.css'

/** Pools is the pools of agents, what each serves, and the agents in them; to who may, it makes and changes them. */
export function Pools({ mayChange }: { mayChange: boolean }) {
  const client = useQueryClient()
  const pools = useQuery(poolsQuery)
  const [asked, setAsked] = useState<{ kind: 'new' } | { kind: 'change' | 'remove'; pool: Pool }>()
  const [made, setMade] = useState<Pool>()
  const done = (pool?: unknown) => {
    setAsked(undefined)
    if (pool && (pool as Pool).token !== undefined) setMade(pool as Pool)
    void client.invalidateQueries({ queryKey: poolsQuery.queryKey })
  }
  const act = useMutation({ mutationFn: (work: () => Promise<unknown>) => work(), onSuccess: done, gcTime: 0 })
  const ask = (next: typeof asked) => {
    act.reset()
    setAsked(next)
  }
  return (
    <Section title="Pools of agents" actions={mayChange ? <Button kind="main" onClick={() => { ask({ kind: 'new' }) }}>Make a pool</Button> : null}>
      {act.error && !asked ? <Failed error={act.error} again={() => { act.reset() }} /> : null}
      <Await query={pools} what="pools">
        {(all) =>
          all.length > 0 ? (
            all.map((pool) => <PoolPart key={(pool.lender ?? '') + pool.name} pool={pool} mayChange={mayChange} onAsk={ask} onRotate={() => { act.mutate(() => rotatePool(pool.name)) }} />)
          ) : (
            <Empty title="There is no pool yet.">
              A pool is a token for agents: make one, then run <code>holdfast agent --pool-token-file …</code> on a machine of yours.
            </Empty>
          )
        }
      </Await>
      {asked?.kind === 'new' ? <PoolDialog busy={act.isPending} error={act.error} onDone={(name, workspaces) => { act.mutate(() => createPool(name, workspaces)) }} onClose={() => { ask(undefined) }} /> : null}
      {asked?.kind === 'change' ? <PoolDialog pool={asked.pool} busy={act.isPending} error={act.error} onDone={(name, workspaces) => { act.mutate(() => changePool(name, workspaces)) }} onClose={() => { ask(undefined) }} /> : null}
      {asked?.kind === 'remove' ? (
        <NameTyped title={`Remove the pool ${asked.pool.name}?`} name={asked.pool.name} verb="Remove" busy={act.isPending} error={act.error} onDone={() => { act.mutate(() => removePool(asked.pool.name)) }} onClose={() => { ask(undefined) }}>
          <p>Its agents get no runs any more, and have to register again with another pool. What they have now goes on to its end. Runs that wait for it wait on.</p>
        </NameTyped>
      ) : null}
      {made?.token !== undefined ? (
        <Secret title={`The token of the pool ${made.name}`} text={made.token} what="token" onClose={() => { setMade(undefined); act.reset() }}>
          <p>Agents that have registered already need none.</p>
        </Secret>
      ) : null}
    </Section>
  )
}

const columns: Column<Agent>[] = [
  { title: 'Agent', cell: ({ name, id }) => <Copyable value={id} short={name} label="agent ID" /> },
  { title: 'Status', width: '9rem', cell: ({ draining, runs }) => <Badge tone={draining ? 'still' : runs && runs.length > 0 ? 'going' : 'done'}>{draining ? 'draining' : runs && runs.length > 0 ? 'working' : 'waiting'}</Badge> },
  { title: 'Runs', width: '14rem', cell: ({ runs }) => runs?.map((id) => <Link key={id} to="/runs/$id" params={{ id }}>{id.slice(-6)} </Link>), secondary: true },
  { title: 'System', width: '9rem', cell: ({ system }) => system, secondary: true },
  { title: 'Sandbox', width: '8rem', cell: ({ sandbox }) => sandbox, secondary: true },
  { title: 'Version', width: '9rem', cell: ({ version }) => version, secondary: true },
  { title: 'Last seen', width: '8rem', cell: ({ seen_at: at }) => <Time at={at} /> },
]

function PoolPart({ pool, mayChange, onAsk, onRotate }: { pool: Pool; mayChange: boolean; onAsk: (asked: { kind: 'change' | 'remove'; pool: Pool }) => void; onRotate: () => void }) {
  const agents = pool.agents ?? []
  return (
    <section className={styles.pool} aria-label={`Pool ${pool.name}`}>
      <header className={styles.poolHead}>
        <h3>{pool.name}</h3>
        <span className="muted">
          serves {pool.workspaces && pool.workspaces.length > 0 ? pool.workspaces.map((pattern) => <code key={pattern}>{pattern} </code>) : 'every workspace'}
          {pool.lender ? <> · lent by <code>{pool.lender}</code></> : null}
          {' · made '}<Time at={pool.created_at} />
        </span>
        {mayChange ? (
          <Menu
            label={`${pool.name}: change, rotate or remove`}
            items={[
              ...(pool.lender ? [] : [
                { label: 'What it serves…', run: () => { onAsk({ kind: 'change', pool }) } },
                { label: 'Another token', run: onRotate },
              ]),
              { label: 'Remove…', loss: true, run: () => { onAsk({ kind: 'remove', pool }) } },
            ]}
          >
            ⋯
          </Menu>
        ) : null}
      </header>
      {pool.grants?.map((grant) => (
        <p key={grant.organization} className="muted">
          Lent to <code>{grant.organization}</code> for {grant.workspaces && grant.workspaces.length > 0 ? <code>{grant.workspaces.join(' ')}</code> : 'every workspace'}
        </p>
      ))}
      {agents.length > 0 ? <Table label={`Agents of ${pool.name}`} columns={columns} rows={agents} rowKey={({ id }) => id} keys={false} /> : <p className="muted">No agent has registered yet.</p>}
    </section>
  )
}
