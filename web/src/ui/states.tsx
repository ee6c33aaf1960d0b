import { useEffect, useState, type ReactNode } from 'react'
import { RequestFailure } from '@/api/failure'
import { Button } from './Button'
import { Copyable } from './Copyable'
import styles from './states.module.css'

/** Empty says that there is nothing yet, and what to do next. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p className={styles.title}>{title}</p>
      {children === undefined ? null : <div className="muted">{children}</div>}
    </div>
  )
}

/** Skeleton holds the place of what is loading; after a second it says what takes long. */
export function Skeleton({ rows = 6, what }: { rows?: number; what: string }) {
  const [long, setLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => { setLong(true) }, 1000)
    return () => { clearTimeout(timer) }
  }, [])
  return (
    <div className={styles.skeleton} role="status" aria-label={`Loading ${what}`}>
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} className={styles.bar} />
      ))}
      {long ? <p className="muted">Still reading {what}…</p> : null}
    </div>
  )
}

/** what is to be done about a failure, beyond what its message says. */
function advice(failure: RequestFailure): string {
  if (failure.status === 403) return 'Ask an owner of the organization for a key that may.'
  if (failure.status === 429) return 'Too many requests of your organization at once; it is tried again soon.'
  if (failure.status >= 500) return 'Try again; if it stays, give the request ID to who runs the server.'
  return ''
}

/** Failed stands where the data would be: what went wrong, its code, what to do, the request's ID. */
export function Failed({ error, again }: { error: unknown; again?: () => void }) {
  if (!(error instanceof RequestFailure)) {
    return (
      <div className={styles.failed} role="alert">
        <p className={styles.title}>The page could not show this.</p>
        <p>{error instanceof Error ? error.message : String(error)}</p>
        {again ? <Button onClick={again}>Try again</Button> : null}
      </div>
    )
  }
  return (
    <div className={styles.failed} role="alert">
      <p className={styles.title}>{error.message}</p>
      {error.details.length > 0 ? (
        <ul>
          {error.details.map((detail) => (
            <li key={detail.pointer + detail.rule}>
              <code>{detail.pointer}</code> {detail.rule}
            </li>
          ))}
        </ul>
      ) : null}
      {advice(error) === '' ? null : <p>{advice(error)}</p>}
      <p className="muted">
        <code>{error.code}</code>
        {error.requestID === '' ? null : (
          <>
            {' · request '}
            <Copyable value={error.requestID} label="request ID" />
          </>
        )}
      </p>
      {again ? <Button onClick={again}>Try again</Button> : null}
    </div>
  )
}

interface Reading<T> {
  data: T | undefined
  error: unknown
  isPending: boolean
  refetch: () => unknown
}

/** Await shows a query's answer, or what stands in its place meanwhile. */
export function Await<T>({ query, what, rows, children }: { query: Reading<T>; what: string; rows?: number; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.error) return <Failed error={query.error} again={() => void query.refetch()} />
  return rows === undefined ? <Skeleton what={what} /> : <Skeleton what={what} rows={rows} />
}
