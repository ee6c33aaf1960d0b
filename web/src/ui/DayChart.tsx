import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
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
  /** The numbers of a day in words. */
  say: (index: number) => string
}

/** DayChart is a number by the day as an area, with some of it in front of all. The same numbers stand in a table for who sees no picture. */
export default function DayChart({ days, all, front, tone, label, caption, say }: Drawn) {
  const frame = useRef<HTMLDivElement>(null)
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
        height: 120,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(most, 4)] } },
        axes: [
          { ...axis, grid: { show: false }, space: 48, size: 24, values: (_, splits) => splits.map((at) => days[at]?.toLocaleDateString(undefined, { ...label, timeZone: 'UTC' }) ?? '') },
          { ...axis, size: 40, space: 24, incrs: [1, 2, 5, 10, 50, 100, 500, 1000, 5000, 10_000] },
        ],
        series: [{}, { stroke: accent, fill: faint(accent), width: 1.5 }, { stroke: warning, fill: faint(warning), width: 1.5 }],
      },
      [days.map((_, index) => index), all, front],
      place,
    )
    const watch = new ResizeObserver(() => { plot.setSize({ width: place.clientWidth, height: 120 }) })
    watch.observe(place)
    return () => {
      watch.disconnect()
      plot.destroy()
    }
    // What is drawn keeps its colours: others are drawn anew.
  }, [days, all, front, tone, label, dark])
  return (
    <figure className={styles.figure}>
      <div ref={frame} aria-hidden="true" />
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
