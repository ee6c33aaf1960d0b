import { Link } from '@tanstack/react-router'
import type { Place, Resource } from '@/api/types'
import type { Column } from '@/ui/Table'
import { Time } from '@/ui/Time'

/** idOf is what a resource is known by elsewhere. */
export function idOf({ attributes }: Resource): string {
  return attributes?.id ?? attributes?.arn ?? attributes?.self_link ?? ''
}

export function rowKeyOf(row: Place & { deposed?: string }): string {
  return [row.source, row.state, row.address, row.deposed].join('\n')
}

/** ResourceLink leads to the resource's history; an upload has none, and leads to what is called the same. */
export function ResourceLink({ place }: { place: Place }) {
  if (place.source === 'state' && place.state) {
    return (
      <Link to="/resources/history" search={{ state: place.state, address: place.address }} title={place.address}>
        <code>{place.address}</code>
      </Link>
    )
  }
  return (
    <Link to="/resources" search={{ q: place.address.split('/').at(-1) ?? place.address }} title={place.address}>
      <code>{place.address}</code>
    </Link>
  )
}

export const columns: Column<Resource>[] = [
  { title: 'Address', cell: (row) => <ResourceLink place={row} /> },
  { title: 'State', width: '16%', cell: ({ source, state }) => (source === 'upload' || !state ? <span className="muted">upload</span> : <Link to="/states/$" params={{ _splat: state }} title={state}>{state}</Link>) },
  { title: 'Type', width: '16%', cell: ({ type }) => <Link to="/resources" search={{ type }}>{type}</Link>, secondary: true },
  { title: 'ID', width: '15%', cell: (row) => <code title={idOf(row)}>{idOf(row)}</code>, secondary: true },
  { title: 'Tags', width: '17%', cell: ({ tags }) => tagsOf(tags), secondary: true },
  { title: 'Since', width: '7rem', cell: ({ at }) => <Time at={at} />, secondary: true },
]

function tagsOf(tags: Resource['tags']) {
  const text = Object.entries(tags ?? {}).map(([name, value]) => `${name}=${value}`).join(' ')
  return <span className="muted" title={text}>{text}</span>
}

/** The columns of what coverage lists: where else the same object stands. */
export const coveredColumns: Column<Resource>[] = [
  ...columns.slice(0, 4),
  {
    title: 'Same object',
    width: '25%',
    cell: ({ same }) =>
      same?.map((place, index) => (
        <span key={rowKeyOf(place)}>
          {index > 0 ? ', ' : ''}
          {place.state ? `${place.state}: ` : 'upload '}
          <ResourceLink place={place} />
        </span>
      )),
  },
]
