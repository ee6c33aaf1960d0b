import { Link } from '@tanstack/react-router'
import type { Extent } from '@/api/types'
import { Badge } from '@/ui/Badge'
import styles from './resources.module.css'

/** ExtentNote says what an answer leaves out, where it leaves something out. */
export function ExtentNote({ extent }: { extent: Extent }) {
  const { complete, limited, unread } = extent
  if (complete && !limited && unread.length === 0) return null
  return (
    <div className={styles.note} role="note">
      <Badge tone="person">Not everything</Badge>
      {complete ? null : <span>What was written last is still being read.</span>}
      {limited ? <span>Your key sees some of the states only.</span> : null}
      {unread.length > 0 ? (
        <span>
          {unread.slice(0, 5).map(({ state, code }) => (
            <span key={state}>
              <Link to="/states/$" params={{ _splat: state }}>{state}</Link> can’t be read (<code>{code}</code>).{' '}
            </span>
          ))}
          {unread.length > 5 || extent.unread_more ? `And ${extent.unread_more ? 'more than ' : ''}${String(unread.length - 5)} others.` : null}
        </span>
      ) : null}
    </div>
  )
}
