import type { Run } from '@/api/types'
import { Badge } from '@/ui/Badge'
import styles from './RunPage.module.css'

/** Diagnostics lists the tool's errors and warnings, and what was in flight when it ended. */
export function Diagnostics({ run }: { run: Run }) {
  const found = run.diagnostics ?? []
  const flying = run.in_flight ?? []
  return (
    <>
      {found.length > 0 ? (
        <ul aria-label="Errors and warnings" className={styles.diagnostics}>
          {found.map((one, index) => (
            <li key={index}>
              <Badge tone={one.severity === 'error' ? 'loss' : 'person'}>{one.severity}</Badge> <strong>{one.summary}</strong> {one.file ? <code>{`${one.file}:${String(one.line ?? 1)}`}</code> : null} {one.address ? <code>{one.address}</code> : null}
              {one.detail ? <p className={styles.prose}>{one.detail}</p> : null}
            </li>
          ))}
        </ul>
      ) : null}
      {flying.length > 0 ? (
        <ul aria-label="In flight" className={styles.diagnostics}>
          {flying.map(({ address, action }) => (
            <li key={address}>
              <Badge tone="person">in flight</Badge> <code>{address}</code> {action}
            </li>
          ))}
        </ul>
      ) : null}
    </>
  )
}
