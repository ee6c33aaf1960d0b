import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { insightQuery } from '@/api/runs'
import type { Run } from '@/api/types'
import styles from './insight.module.css'
import { Line } from './Line'

/** Beside is what a plan means in a line, where its changes stand; `all` leads to the rest of it. */
export default function Beside({ run, all }: { run: Run; all?: ReactNode }) {
  const query = useQuery(insightQuery(run))
  if (run.pin === undefined) return null
  return (
    <div className={styles.beside}>
      {query.data ? <Line insight={query.data} /> : <p className="muted" role="status">{query.error ? 'What this plan means is not known.' : 'Reading what this plan means…'}</p>}
      {all}
    </div>
  )
}
