import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { endAllSessions, endSession, sessionsQuery } from '@/api/sessions'
import type { BrowserSession } from '@/api/types'
import { Button } from '@/ui/Button'
import { Section } from '@/ui/Page'
import { Await, Empty, Failed } from '@/ui/states'
import { Table, type Column } from '@/ui/Table'
import { Time } from '@/ui/Time'

/** Sessions is the browsers that the reader is signed in with. */
export function Sessions() {
  const client = useQueryClient()
  const sessions = useQuery(sessionsQuery)
  const end = useMutation({
    mutationFn: (session: BrowserSession | 'all') => (session === 'all' ? endAllSessions() : endSession(session.id)),
    onSuccess: (_, session) => {
      if (session === 'all' || session.current) {
        client.setQueryData(['identity'], null) // what was read goes with it
        return
      }
      void client.invalidateQueries({ queryKey: sessionsQuery.queryKey })
    },
  })
  const columns: Column<BrowserSession>[] = [
    { title: 'Browser', cell: ({ agent, current }) => <span title={agent}>{current ? <strong>This one</strong> : null}{current ? ' · ' : ''}{agent || 'unknown'}</span> },
    { title: 'From', width: '10rem', cell: ({ address }) => address, secondary: true },
    { title: 'Signed in', width: '8rem', cell: ({ began_at: at }) => <Time at={at} /> },
    { title: 'Last seen', width: '8rem', cell: ({ seen_at: at }) => <Time at={at} />, secondary: true },
    { title: 'Ends', width: '8rem', cell: ({ ends_at: at, idle_at: idle }) => <Time at={idle < at ? idle : at} />, secondary: true },
    { title: 'Do', width: '7rem', cell: (session) => <Button kind="quiet" disabled={end.isPending} onClick={() => { end.mutate(session) }}>Sign out</Button> },
  ]
  return (
    <Section title="Browsers that you are signed in with" actions={<Button kind="loss" busy={end.isPending} onClick={() => { end.mutate('all') }}>Sign out everywhere</Button>}>
      {end.error ? <Failed error={end.error} again={() => { end.reset() }} /> : null}
      <Await query={sessions} what="your sessions">
        {(all) => (all.length > 0 ? <Table label="Sessions" columns={columns} rows={all} rowKey={({ id }) => id} /> : <Empty title="There are none: these are other credentials." />)}
      </Await>
    </Section>
  )
}
