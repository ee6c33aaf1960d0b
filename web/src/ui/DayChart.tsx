import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import { below, height, least, space, steps } from './axis'
import styles from './DayChart.module.css'
import { useDark } from './useDark'

export interface Days {
  /** When each begins, in UTC. */
  days: Date[]
  all: number[]
  /** Those of all that stand in front of them. */
  front: number[]
}

interface Drawn extends Days {
  tone: 'loss' | 'person'
  /** How a day is called below the picture. */
  label: Intl.DateTimeFormatOptions
  caption: string
  /** What the two areas are called: all, and what stands in front. */
  legend: [all: string, front: string]
  /** The numbers of a day in words. */
  say: (index: number) => string
}

/** DayChart is a number by the day as an area, with some of it in front of all. The same numbers stand in a table for who sees no picture. */
export default function DayChart({ days, all, front, tone, label, caption, legend, say }: Drawn) {
  const frame = useRef<HTMLDivElement>(null)
  // The day that the pointer is at.
  const [at, setAt] = useState<number | null>(null)
  const dark = useDark()
  useEffect(() => {
    const place = frame.current
    if (!place) return
    const colour = (name: string) => {
      const probe = document.createElement('span')
      probe.style.color = `var(${name})`
      place.append(probe)
      const found = getComputedStyle(probe).color
      probe.remove()
      return found
    }
    const faint = (of: string) => of.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.2)')
    const [accent, warning, muted, grid] = [colour('--accent'), colour(`--${tone}`), colour('--muted'), colour('--line')]
    const axis = { stroke: muted, grid: { stroke: grid, width: 1 }, ticks: { show: false } }
    const plot = new uPlot(
      {
        width: place.clientWidth,
        height,
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
        hooks: { setCursor: [({ cursor: { idx } }) => { setAt(idx ?? null) }] },
        scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(most, least)] } },
        axes: [
          { ...axis, grid: { show: false }, space: 48, size: below, values: (_, splits) => splits.map((at) => days[at]?.toLocaleDateString(undefined, { ...label, timeZone: 'UTC' }) ?? '') },
          { ...axis, size: 40, space, incrs: steps },
        ],
        series: [{}, { stroke: accent, fill: faint(accent), width: 1.5 }, { stroke: warning, fill: faint(warning), width: 1.5 }],
      },
      [days.map((_, index) => index), all, front],
      place,
    )
    const watch = new ResizeObserver(() => { plot.setSize({ width: place.clientWidth, height }) })
    watch.observe(place)
    return () => {
      watch.disconnect()
      plot.destroy()
    }
    // What is drawn keeps its colours: others are drawn anew.
  }, [days, all, front, tone, label, dark])
  return (
    <figure className={styles.figure}>
      <div ref={frame} aria-hidden="true" className={styles.frame} />
      <figcaption className={styles.legend}>
        <span><span className={styles.all} aria-hidden="true">■</span> {legend[0]}</span>
        <span><span className={tone === 'loss' ? styles.loss : styles.person} aria-hidden="true">■</span> {legend[1]}</span>
        {at !== null && days[at] ? <span aria-hidden="true" className="muted">{days[at].toLocaleDateString(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })}: {say(at)}</span> : null}
      </figcaption>
      <table className="visually-hidden">
        <caption>{caption}, by day in UTC</caption>
        <tbody>
          {days.map((day, index) => (
            <tr key={day.getTime()}>
              <th scope="row">{day.toLocaleDateString(undefined, { timeZone: 'UTC' })}</th>
              <td>{say(index)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
