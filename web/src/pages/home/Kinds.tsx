import type { Home } from '@/api/types'
import { grouped } from '@/lib/size'
import styles from './HomePage.module.css'

type Kinds = NonNullable<Home['workspaces']>['kinds']

/** Kinds is how many files there are by what their names end with. */
export function Kinds({ kinds, more }: { kinds: Kinds; more: boolean }) {
  const most = kinds[0]?.files ?? 1
  return (
    <>
      <ul className={styles.kinds}>
        {kinds.slice(0, 8).map(({ kind, files }) => (
          <li key={kind}>
            <code>{kind === 'other' ? 'other' : `.${kind}`}</code>
            <meter min={0} max={most} value={files} aria-label={`Files of kind ${kind}`} />
            <span>{grouped(files)}</span>
          </li>
        ))}
      </ul>
      {more ? <p className="muted">Some configurations are not counted yet.</p> : null}
    </>
  )
}
