import { Link } from '@tanstack/react-router'
import { useMay } from '@/api/session'
import type { Run } from '@/api/types'
import { Badge } from '@/ui/Badge'
import { Time } from '@/ui/Time'
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
              <Badge tone={one.severity === 'error' ? 'loss' : 'person'}>{one.severity}</Badge> <strong>{one.summary}</strong> {one.file ? <Place workspace={run.workspace} file={one.file} line={one.line ?? 1} /> : null} {one.address ? <code>{one.address}</code> : null}
              {one.detail ? <p className={styles.prose}>{one.detail}</p> : null}
            </li>
          ))}
        </ul>
      ) : null}
      {flying.length > 0 ? (
        <ul aria-label="In flight" className={styles.diagnostics}>
          {flying.map(({ address, action, since }) => (
            <li key={address}>
              <Badge tone="person">in flight</Badge> <code>{address}</code> {action}, begun <Time at={since} />
            </li>
          ))}
        </ul>
      ) : null}
    </>
  )
}

/** Place is a line of a file, which the editor opens for who may read files. */
function Place({ workspace, file, line }: { workspace: string; file: string; line: number }) {
  const may = useMay()
  const text = <code>{`${file}:${String(line)}`}</code>
  if (!may('workspace:read')) return text
  return <Link to="/editor/$" params={{ _splat: workspace }} search={{ file, line: String(line) }} preload={false}>{text}</Link>
}
