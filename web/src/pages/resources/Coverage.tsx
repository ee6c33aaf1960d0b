import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { coverageQuery, coveredQuery, type ResourceFilter } from '@/api/resources'
import { count } from '@/lib/size'
import { Section } from '@/ui/Page'
import { Await, Empty } from '@/ui/states'
import { Table } from '@/ui/Table'
import { coveredColumns, rowKeyOf } from './columns'
import { byType, claimsOf, partsOf, statuses, type Part, type Status } from './coverage'
import { ExtentNote } from './ExtentNote'
import styles from './resources.module.css'

interface Props {
  filter: ResourceFilter
  status: string | undefined
  onStatus: (status: string) => void
}

/** Coverage is a picture of what is managed, unmanaged, missing and claimed twice; each part opens its list. */
export function Coverage({ filter, status, onStatus }: Props) {
  const counts = useQuery(coverageQuery(filter))
  const chosen = statuses.find(({ id }) => id === status)
  return (
    <Await query={counts} what="coverage" rows={3}>
      {(data) => (
        <>
          <ExtentNote extent={data} />
          <div className={styles.bars}>
            <Bar title="In states" counts={data.counts.state} chosen={status} onStatus={onStatus} />
            <Bar title="Uploaded" counts={data.counts.upload} chosen={status} onStatus={onStatus} />
          </div>
          <dl className={styles.legend}>
            {statuses.map(({ id, label, means, tone }) => (
              <div key={id}>
                <dt><span aria-hidden="true" className={`${styles.swatch!} ${styles[tone]!} ${styles[id] ?? ''}`} /> {label}</dt>
                <dd className="muted">{means}</dd>
              </div>
            ))}
          </dl>
          {partsOf(data.counts.upload).length === 0 ? (
            <Empty title="Nothing was uploaded yet that states could be compared with.">
              What your cloud has is told to <code>POST /api/v1/upload</code>: then this shows what no state manages, and what is in a state and gone.
            </Empty>
          ) : null}
          {chosen ? <Covered key={chosen.id} filter={filter} status={chosen.id} title={chosen.label} /> : null}
          {!chosen && [data.counts.state, data.counts.upload].some((counts) => partsOf(counts).length > 0) ? <p className="muted">Choose a part of a bar to see what is in it.</p> : null}
        </>
      )}
    </Await>
  )
}

interface Choosing {
  chosen: string | undefined
  onStatus: (status: string) => void
}

function Bar({ title, counts, ...choosing }: { title: string; counts: Record<string, number> | undefined } & Choosing) {
  const parts = partsOf(counts)
  const claims = claimsOf(counts)
  const all = parts.reduce((sum, part) => sum + part.count, 0)
  return (
    <div className={styles.barRow} role="group" aria-label={`${title}: ${count(all, 'resource')}`}>
      <div className={styles.barTitle}>
        {title} <span className="muted">{all.toLocaleString()}</span>
      </div>
      <div>
        <div className={styles.bar}>
          {parts.map((part) => <PartButton key={part.status.id} part={part} {...choosing} />)}
          {parts.length === 0 ? <span className={styles.none}>none</span> : null}
        </div>
        {claims ? (
          <div className={`${styles.bar!} ${styles.claims!}`}>
            <PartButton part={claims.twice} {...choosing} />
            <span style={{ flexGrow: claims.rest, flexBasis: 0 }} />
          </div>
        ) : null}
      </div>
    </div>
  )
}

function PartButton({ part: { status, count: number, share }, chosen, onStatus }: { part: Part } & Choosing) {
  return (
    <button
      type="button"
      className={`${styles.part!} ${styles[status.tone]!} ${styles[status.id] ?? ''}`}
      style={{ flexGrow: share, flexBasis: 0 }}
      aria-pressed={chosen === status.id}
      title={`${status.label}: ${number.toLocaleString()}, ${status.means}`}
      onClick={() => { onStatus(chosen === status.id ? '' : status.id) }}
    >
      <span className={styles.partLabel}>{status.label}</span>{' '}
      <span>{number.toLocaleString()}</span>
    </button>
  )
}

function Covered({ filter, status, title }: { filter: ResourceFilter; status: Status['id']; title: string }) {
  const list = useInfiniteQuery(coveredQuery(filter, status))
  const rows = list.data?.pages.flatMap((page) => page.resources) ?? []
  const types = byType(rows)
  const most = types[0]?.[1] ?? 1
  return (
    <Section title={title}>
      <Await query={list} what="these resources">
        {() =>
          rows.length === 0 && !list.hasNextPage ? (
            <Empty title="There are none." />
          ) : (
            <>
              {types.length > 1 ? (
                <ul className={styles.types} aria-label={list.hasNextPage ? 'By type, of those read so far' : 'By type'}>
                  {types.slice(0, 12).map(([type, number]) => (
                    <li key={type}>
                      <Link to="/resources" search={{ tab: 'coverage', status, type }} title={type}>{type}</Link>
                      <meter min={0} max={most} value={number} aria-label={type} />
                      <span>{number.toLocaleString()}</span>
                    </li>
                  ))}
                </ul>
              ) : null}
              <Table label={title} columns={coveredColumns} rows={rows} rowKey={rowKeyOf} onEnd={list.hasNextPage && !list.isFetchingNextPage ? () => void list.fetchNextPage() : undefined} />
            </>
          )
        }
      </Await>
    </Section>
  )
}
