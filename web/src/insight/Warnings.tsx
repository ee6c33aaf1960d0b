import type { Insight } from '@/api/types'
import styles from './insight.module.css'

/** Warnings says why people should look twice, and what was not looked at. */
export function Warnings({ insight: { approve_because: because, unread, cut } }: { insight: Insight }) {
  return (
    <>
      {because.length > 0 ? (
        <div className={styles.careful} role="note" aria-label="Take care">
          <p><span aria-hidden="true">▲</span> <strong>Take care</strong>, because of:</p>
          <ul>
            {because.map((reason) => <li key={reason}>{reason}</li>)}
          </ul>
        </div>
      ) : null}
      {unread ? <p className={styles.careful} role="note">Not all of this plan was looked at: planning failed, or it has too many changes. What is missing here may still be dangerous. Read the log, or plan less at once.</p> : null}
      {cut ? <p className={`${styles.more!} muted`}>There is more than is listed; the gravest findings and the highest costs are here.</p> : null}
    </>
  )
}
