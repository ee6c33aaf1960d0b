import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { insightQuery } from '@/api/runs'
import type { Run } from '@/api/types'
import { Line } from '@/insight/Line'
import { Section } from '@/ui/Page'
import { RunBadge } from '@/ui/RunBadge'
import styles from './HomePage.module.css'

/** Latest is what the newest plan that changes something means. Where nothing can be said of it, there is none: its run says why. */
export default function Latest({ run }: { run: Run }) {
  const insight = useQuery(insightQuery(run)).data
  if (!insight) return null
  return (
    <Section title="Latest insight" actions={<Link to="/runs/$id" params={{ id: run.id }} search={{ tab: 'insight' }}>What it means<span className="visually-hidden"> for {run.workspace}</span></Link>}>
      <div className={styles.latest}>
        <strong><Link to="/states/$" params={{ _splat: run.workspace }} className={styles.name}>{run.workspace}</Link></strong>
        <RunBadge run={run} />
        <Line insight={insight} />
      </div>
    </Section>
  )
}
