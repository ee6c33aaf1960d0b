import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { layerDriftQuery, layersQuery, unexpectDrift } from '@/api/layers'
import { useMay } from '@/api/session'
import type { DriftedResource, DriftExpectation, Layer, LayerDrift } from '@/api/types'
import { actorOf } from '@/pages/runs/RunTable'
import { count } from '@/lib/size'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { Section } from '@/ui/Page'
import { Some } from '@/ui/Some'
import { Await, Empty, Failed } from '@/ui/states'
import { Table, type Column } from '@/ui/Table'
import { Time } from '@/ui/Time'
import styles from './layer.module.css'

/** DriftReport is what the last check has found by resource and attribute, what is expected, and how checks went before. */
export function DriftReport({ layer }: { layer: Layer }) {
  const drift = useQuery(layerDriftQuery(layer.name))
  return (
    <Await query={drift} what="the report of drift">
      {(report) => (
        <>
          <Found report={report} layer={layer} />
          <Expected report={report} name={layer.name} />
          {report.checks.length > 0 ? (
            <Section title="Checks that found something else than the one before">
              <Table label="Checks" columns={checkColumns} rows={report.checks} rowKey={({ run }) => run} keys={false} />
            </Section>
          ) : null}
        </>
      )}
    </Await>
  )
}

function Found({ report: { at, run, resources }, layer }: { report: LayerDrift; layer: Layer }) {
  if (at === null) {
    return (
      <Empty title="The layer was not checked yet.">
        {layer.settings.drift.off ? 'Its settings have checks off; ' : 'It is when it was planned; '}<code>holdfast layer check {layer.name}</code> checks it now.
      </Empty>
    )
  }
  return (
    <Section title="Changed outside">
      <p className="muted">
        Checked <Time at={at} />{run ? <>, by <Link to="/runs/$id" params={{ id: run }}>run …{run.slice(-8)}</Link>, whose changes have the values</> : null}.
      </p>
      {resources.length === 0 ? <Empty title="Nothing has drifted." /> : (
        <Some label="Resources that differ" className={styles.differs} items={resources} itemKey={({ address }) => address}>
          {(one) => <Differs one={one} name={layer.name} />}
        </Some>
      )}
    </Section>
  )
}

function Differs({ one: { address, action, attributes, since, run, expected, ignored, claims }, name }: { one: DriftedResource; name: string }) {
  const fine = expected !== undefined || ignored === true
  return (
    <>
      <p className={styles.commit}>
        <Badge tone={fine ? 'still' : action === 'deleted' ? 'loss' : 'person'}>{action}</Badge>
        <Link to="/resources/history" search={{ state: name, address }}><code>{address}</code></Link>
        <span className="muted">since <Time at={since} />, <Link to="/runs/$id" params={{ id: run }}>run …{run.slice(-8)}</Link></span>
        {expected !== undefined ? <Badge tone="still">expected</Badge> : null}
        {ignored ? <Badge tone="still">ignored by the settings</Badge> : null}
      </p>
      {attributes.length > 0 ? <p className={styles.paths}>{attributes.map((path) => <code key={path}>{path}</code>)}</p> : null}
      {claims?.map((claim) => (
        <p key={`${claim.kind} ${claim.name}`} className="muted">
          also {claim.kind === 'state' ? <>in the state <Link to="/states/$" params={{ _splat: claim.name }}>{claim.name}</Link></> : <>uploaded by {claim.name}</>}, <Time at={claim.at} />
        </p>
      ))}
    </>
  )
}

function Expected({ report: { expectations }, name }: { report: LayerDrift; name: string }) {
  const client = useQueryClient()
  const may = useMay()
  const back = useMutation({
    mutationFn: (id: string) => unexpectDrift(name, id),
    onSuccess: (report) => {
      client.setQueryData(layerDriftQuery(name).queryKey, report)
      void client.invalidateQueries({ queryKey: layersQuery.queryKey, exact: true })
    },
  })
  if (expectations.length === 0) return null
  const columns: Column<DriftExpectation>[] = [
    { title: 'Resources', cell: ({ address, attribute }) => <code title={attribute}>{address}{attribute ? ` ${attribute}` : ''}</code> },
    { title: 'Why', cell: ({ reason }) => <span title={reason}>{reason}</span> },
    { title: 'Owner', width: '8rem', cell: ({ owner }) => owner, secondary: true },
    { title: 'Said by', width: '9rem', cell: ({ by }) => actorOf(by), secondary: true },
    { title: 'Ends', width: '7rem', cell: ({ expires }) => <Time at={expires} /> },
    ...(may('workspace:write') ? [{ title: 'Take back', width: '7rem', cell: ({ id }: DriftExpectation) => <Button kind="quiet" busy={back.isPending} onClick={() => { back.mutate(id) }}>Take back</Button> }] : []),
  ]
  return (
    <Section title={`Expected: ${count(expectations.length, 'rule')}`}>
      {back.error ? <Failed error={back.error} again={() => { back.reset() }} /> : null}
      <Table label="Expected drift" columns={columns} rows={expectations} rowKey={({ id }) => id} keys={false} />
    </Section>
  )
}

const checkColumns: Column<LayerDrift['checks'][number]>[] = [
  { title: 'When', width: '7rem', cell: ({ at }) => <Time at={at} /> },
  { title: 'Run', width: '8rem', cell: ({ run }) => <Link to="/runs/$id" params={{ id: run }}>…{run.slice(-8)}</Link> },
  { title: 'Drifted', width: '6rem', align: 'right', cell: ({ drifted }) => drifted },
  { title: 'Expected', width: '6rem', align: 'right', cell: ({ expected }) => expected, secondary: true },
  { title: 'New', width: '6rem', align: 'right', cell: ({ new: fresh }) => fresh },
  { title: 'Healed', width: '6rem', align: 'right', cell: ({ healed }) => healed },
]
