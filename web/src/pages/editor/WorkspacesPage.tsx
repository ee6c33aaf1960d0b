import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { workspacesQuery } from '@/api/runs'
import { useMay } from '@/api/session'
import { bytes } from '@/lib/size'
import { Button } from '@/ui/Button'
import { Page } from '@/ui/Page'
import { Await, Empty } from '@/ui/states'
import { Table, type Column } from '@/ui/Table'
import { Time } from '@/ui/Time'
import type { Workspace } from '@/api/types'
import { NewWorkspace } from './NewWorkspace'

const columns: Column<Workspace>[] = [
  { title: 'Workspace', cell: ({ name }) => <Link to="/editor/$" params={{ _splat: name }} title={name}>{name}</Link> },
  { title: 'Files', width: '6rem', align: 'right', cell: ({ snapshot }) => snapshot?.files.toLocaleString() ?? '0' },
  { title: 'Size', width: '7rem', align: 'right', cell: ({ snapshot }) => (snapshot ? bytes(snapshot.bytes) : ''), secondary: true },
  { title: 'Tool', width: '12rem', cell: ({ settings }) => `${settings.tool} ${settings.version ?? ''}`, secondary: true },
  { title: 'Reads outputs of', width: '12rem', cell: ({ settings }) => settings.reads?.join(', '), secondary: true },
  { title: 'Last change', width: '8rem', cell: ({ snapshot }) => (snapshot ? <Time at={snapshot.created_at} /> : <span className="muted">no files yet</span>) },
  { title: 'By', width: '12rem', cell: ({ snapshot }) => snapshot && (snapshot.created_by.subject ?? snapshot.created_by.key_name ?? snapshot.created_by.key_id), secondary: true },
]

/** WorkspacesPage picks the workspace whose files are to be edited. */
export function WorkspacesPage() {
  const workspaces = useQuery(workspacesQuery)
  const may = useMay()
  const [making, setMaking] = useState(false)
  const make = may('workspace:write') ? <Button kind="main" onClick={() => { setMaking(true) }}>New workspace</Button> : null
  return (
    <Page title="Files" name="Files" line="The configuration of each workspace, to read and to edit" actions={make}>
      <Await query={workspaces} what="workspaces">
        {(all) =>
          all.length > 0 ? (
            <Table label="Workspaces" columns={columns} rows={all} rowKey={({ name }) => name} />
          ) : (
            <Empty title="There is no workspace yet.">
              {make ? 'Make one here, or with' : 'Somebody makes one with'} <code>holdfast workspace create prod/network --tool opentofu</code>.
            </Empty>
          )
        }
      </Await>
      {making ? <NewWorkspace onClose={() => { setMaking(false) }} /> : null}
    </Page>
  )
}
