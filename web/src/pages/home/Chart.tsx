import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { useDark } from '@/ui/useDark'
import styles from './HomePage.module.css'

/** Chart is the runs that ended in a week, by day in UTC, as an area, failed ones in front of all. The same numbers stand in a table for who sees no picture. */
export default function Chart({ days, all, failed }: { days: Date[]; all: number[]; failed: number[] }) {
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
    const [accent, loss, muted, grid] = [colour('--accent'), colour('--loss'), colour('--muted'), colour('--line')]
    const axis = { stroke: muted, grid: { stroke: grid, width: 1 }, ticks: { show: false } }
    const plot = new uPlot(
      {
        width: place.clientWidth,
        height: 120,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(most, 4)] } },
        axes: [
          { ...axis, grid: { show: false }, space: 40, size: 24, values: (_, splits) => splits.map((at) => days[at]?.toLocaleDateString(undefined, { weekday: 'short', timeZone: 'UTC' }) ?? '') },
          { ...axis, size: 32, space: 24, incrs: [1, 2, 5, 10, 50, 100, 500, 1000] },
        ],
        series: [{}, { stroke: accent, fill: faint(accent), width: 1.5 }, { stroke: loss, fill: faint(loss), width: 1.5 }],
      },
      [days.map((_, index) => index), all, failed],
      place,
    )
    const watch = new ResizeObserver(() => { plot.setSize({ width: place.clientWidth, height: 120 }) })
    watch.observe(place)
    return () => {
      watch.disconnect()
      plot.destroy()
    }
    // What is drawn keeps its colours: others are drawn anew.
  }, [days, all, failed, dark])
  return (
    <figure className={styles.figure}>
      <div ref={frame} aria-hidden="true" />
      <table className="visually-hidden">
        <caption>Runs that ended, by day in UTC</caption>
        <tbody>
          {days.map((day, index) => (
            <tr key={day.getTime()}>
              <th scope="row">{day.toLocaleDateString(undefined, { timeZone: 'UTC' })}</th>
              <td>
                {all[index]} ended, {failed[index]} of them failed
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
