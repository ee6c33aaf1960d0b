import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useMemo } from 'react'
import { trendQuery } from '@/api/layers'
import type { DriftTrend } from '@/api/types'
import { count } from '@/lib/size'
import { Section } from '@/ui/Page'
import { Await, Empty } from '@/ui/states'
import { useIdle } from '@/ui/useIdle'
import styles from './layers.module.css'

const DayChart = lazy(() => import('@/ui/DayChart'))

const date: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' }

/** Trend is how many layers were checked on each day, and how many of them had drifted at its end. */
export function Trend() {
  const trend = useQuery(trendQuery)
  return (
    <Section title="Trend, 30 days">
      <Await query={trend} what="the trend of drift">
        {({ days }) => (days.some(({ checks, healed }) => checks + healed > 0) ? <Drawn days={days} /> : <Empty title="No layer was checked in 30 days." />)}
      </Await>
    </Section>
  )
}

function Drawn({ days }: DriftTrend) {
  const idle = useIdle()
  const drawn = useMemo(
    () => ({ days: days.map(({ day }) => new Date(`${day}T00:00:00Z`)), all: days.map(({ layers }) => layers), front: days.map(({ drifted }) => drifted) }),
    [days],
  )
  const sum = (of: 'checks' | 'new' | 'healed') => days.reduce((total, day) => total + day[of], 0)
  const say = (index: number) => {
    const { layers, drifted, checks, new: fresh, healed } = days[index]!
    return `${count(layers, 'layer')} checked, ${String(drifted)} of them drifted; ${count(checks, 'check')}, ${String(fresh)} new, ${String(healed)} healed`
  }
  const place = <div className={styles.trend} />
  return (
    <>
      <p className="muted">
        Layers that were checked, and those that had drifted in front of them. {count(sum('checks'), 'check')} found {count(sum('new'), 'resource')} newly drifted; {count(sum('healed'), 'resource')} healed.
      </p>
      {idle ? <Suspense fallback={place}><DayChart {...drawn} tone="person" label={date} caption="Layers that had drifted" legend={['checked', 'drifted']} say={say} /></Suspense> : place}
    </>
  )
}
