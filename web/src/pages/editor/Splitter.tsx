import { useState, type KeyboardEvent, type PointerEvent } from 'react'
import styles from './Editor.module.css'

/** useHeight is a height in pixels that this browser remembers. */
export function useHeight(place: string, first: number): [number, (height: number) => void] {
  const [height, setHeight] = useState(() => {
    try {
      return Number(localStorage.getItem(place)) || first
    } catch {
      return first
    }
  })
  return [
    height,
    (next) => {
      setHeight(next)
      try {
        localStorage.setItem(place, String(next))
      } catch {
        // It is as before when the page is opened again.
      }
    },
  ]
}

const least = 80

/** Splitter makes what is below it taller or smaller, by pointer or by the arrow keys. */
export function Splitter({ label, height, onChange }: { label: string; height: number; onChange: (height: number) => void }) {
  const bound = (wanted: number) => Math.round(Math.min(Math.max(wanted, least), window.innerHeight * 0.7))
  const press = (event: KeyboardEvent) => {
    const by = { ArrowUp: 24, ArrowDown: -24, Home: 10_000, End: -10_000 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    onChange(bound(height + by))
  }
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    onChange(bound(height - event.movementY))
  }
  return (
    // A separator that has the focus and a value is a control.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      role="separator"
      aria-orientation="horizontal"
      aria-label={label}
      aria-valuenow={height}
      aria-valuemin={least}
      aria-valuemax={Math.round(window.innerHeight * 0.7)}
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className={styles.splitter}
      onKeyDown={press}
      onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId) }}
      onPointerMove={drag}
    />
  )
}
