import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { useMay } from '@/api/session'
import { diffQuery, rollBack, versionQuery, versionsQuery } from '@/api/states'
import type { Version } from '@/api/types'
import { bytes } from '@/lib/size'
import { Button } from '@/ui/Button'
import { Copyable } from '@/ui/Copyable'
import { Facts } from '@/ui/Facts'
import { Reason } from '@/ui/Reason'
import { Await, Empty } from '@/ui/states'
import { Table, type Column } from '@/ui/Table'
import { Time } from '@/ui/Time'
import { useChanged } from './changed'
import { stateRoute } from './route'
import { StateDiff } from './StateDiff'
import styles from './StatePage.module.css'

/** Versions is the state's timeline; the version that is chosen stands beside it with its difference. */
export function Versions({ name, newest }: { name: string; newest: number }) {
  const { version, against } = stateRoute.useSearch()
  const query = useInfiniteQuery(versionsQuery(name))
  const more = query.hasNextPage && !query.isFetchingNextPage ? () => void query.fetchNextPage() : undefined
  return (
    <Await query={query} what="versions">
      {({ pages }) => {
        const rows = pages.flatMap((page) => page.versions)
        const wanted = version ?? newest
        const chosen = rows.find((row) => row.version === wanted)
        return (
          <div className={styles.split}>
            <Table label="Versions" columns={columns(name, wanted)} rows={rows} rowKey={(row) => String(row.version)} onEnd={more} isMarked={(row) => row.version === wanted || row.version === against} />
            <div className={styles.detail}>
              <Wanted name={name} version={wanted} known={chosen}>
                {(found) => <Chosen name={name} version={found} newest={newest} newestDigest={rows.find((row) => row.version === newest)?.digest} against={against} />}
              </Wanted>
            </div>
          </div>
        )
      }}
    </Await>
  )
}

/** Wanted is a version that may be further down than the list was read. */
function Wanted({ name, version, known, children }: { name: string; version: number; known: Version | undefined; children: (found: Version) => ReactNode }) {
  const query = useQuery({ ...versionQuery(name, version), enabled: known === undefined })
  if (known) return children(known)
  return (
    <Await query={query} what="the version">
      {(found) =>
        found ? children(found) : (
          <Empty title={`There is no version ${String(version)}.`}>
            It was never written, or retention has removed it. <Link to="/states/$" params={{ _splat: name }} search={{ tab: 'versions' }}>The newest</Link>
          </Empty>
        )
      }
    </Await>
  )
}

function columns(name: string, chosen: number): Column<Version>[] {
  return [
    {
      title: 'Version',
      width: '4.5rem',
      align: 'right',
      cell: ({ version }) => (
        <Link to="/states/$" params={{ _splat: name }} search={{ tab: 'versions', version }} resetScroll={false}>
          {version}
        </Link>
      ),
    },
    { title: 'When', width: '6.5rem', cell: (row) => <Time at={row.created_at} /> },
    { title: 'Who', cell: (row) => <span title={row.key_id}>{row.who || row.subject || row.key_name || row.key_id}</span> },
    {
      title: 'From',
      width: '8.5rem',
      cell: (row) => (row.run ? <Link to="/runs/$id" params={{ id: row.run }}>run …{row.run.slice(-6)}</Link> : originOf(row)),
    },
    {
      title: 'Compare',
      width: '5.5rem',
      secondary: true,
      cell: (row) =>
        row.version === chosen ? (
          <span className="muted">shown</span>
        ) : (
          <Link to="/states/$" params={{ _splat: name }} search={{ tab: 'versions', version: Math.max(chosen, row.version), against: Math.min(chosen, row.version) }} resetScroll={false} aria-label={`Compare version ${String(row.version)} with ${String(chosen)}`}>
            with {chosen}
          </Link>
        ),
    },
  ]
}

function originOf(version: Version): string {
  if (version.origin?.version) return `rollback to ${String(version.origin.version)}`
  if (version.origin?.candidate) return 'candidate'
  return version.operation ? version.operation.replace('OperationType', '').toLowerCase() : ''
}

function Chosen({ name, version, newest, newestDigest, against }: { name: string; version: Version; newest: number; newestDigest: string | undefined; against: number | undefined }) {
  const may = useMay()
  const navigate = useNavigate()
  const changed = useChanged(name)
  // What was the newest when somebody began to roll back: over what came since they are asked again.
  const [rolling, setRolling] = useState<{ newest: number; digest: string }>()
  const diff = useQuery({ ...diffQuery(name, version.version, against), enabled: may('state:read') && !version.purged && (version.version > 1 || against !== undefined) })
  return (
    <section aria-label={`Version ${String(version.version)}`}>
      <div className={styles.chosen}>
        <h2>
          Version {version.version}
          {against === undefined ? (version.version > 1 ? ', and the one before it' : '') : `, compared with ${String(against)}`}
        </h2>
        {version.version !== newest && !version.purged && newestDigest !== undefined && may('state:write') ? <Button onClick={() => { setRolling({ newest, digest: newestDigest }) }}>Roll back to {version.version}…</Button> : null}
      </div>
      <Facts
        facts={[
          ['Serial', version.serial],
          ['Size', bytes(version.size)],
          ['Resources', version.resources?.toLocaleString()],
          ['Written by', version.terraform_version && `version ${version.terraform_version} of the tool`],
          ['Reason', version.origin?.reason],
          ['Findings', version.warnings?.join(', ')],
          ['Digest', <Copyable key="digest" value={version.digest} short={version.digest.slice(0, 12)} label="digest" />],
        ]}
      />
      {version.purged ? <p className="muted">Its bytes were destroyed on purpose.</p> : null}
      {version.purged || !may('state:read') || (version.version === 1 && against === undefined) ? null : (
        <Await query={diff} what="the difference">
          {(data) => <StateDiff diff={data} />}
        </Await>
      )}
      <Reason
        title={`Roll ${name} back to version ${String(version.version)}`}
        open={rolling !== undefined}
        onClose={() => { setRolling(undefined) }}
        does="Roll back"
        act={async (reason) => {
          const made = await rollBack(name, version.version, reason, rolling!.digest)
          await changed()
          await navigate({ to: '/states/$', params: { _splat: name }, search: { tab: 'versions', version: made.version } })
        }}
      >
        <p>Its content becomes version {(rolling?.newest ?? newest) + 1}. Nothing is lost: version {rolling?.newest ?? newest} stays, and can be rolled back to.</p>
      </Reason>
    </section>
  )
}
