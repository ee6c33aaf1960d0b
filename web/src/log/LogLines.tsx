import { useVirtualizer } from '@tanstack/react-virtual'
import { useImperativeHandle, useLayoutEffect, useRef, type KeyboardEvent, type ReactNode, type Ref } from 'react'
import type { LogStore } from './log'
import styles from './LogLines.module.css'

const lineHeight = 20
const near = 2 * lineHeight

/** Shower brings a line into sight. */
export interface Shower {
  show: (index: number) => void
}

interface Props {
  log: LogStore
  label: string
  role: 'region' | 'log'
  className: string | undefined
  /** Whether the end is kept in sight as it comes. Who scrolls up stops that, and who comes to the end begins it. */
  following: boolean
  onFollowing: (following: boolean) => void
  /** What stands there while there is no line. */
  empty?: string
  line: (index: number) => ReactNode
  lineClass?: (index: number) => string | undefined
  ref?: Ref<Shower>
}

/** LogLines shows lines of a log as text. However many there are, only those in sight are drawn. */
export function LogLines({ log, label, role, className, following, onFollowing, empty, line, lineClass, ref }: Props) {
  const frame = useRef<HTMLDivElement>(null)
  const top = useRef(0)
  const { length } = log.lines
  const virtual = useVirtualizer({ count: length, getScrollElement: () => frame.current, estimateSize: () => lineHeight, overscan: 30 })
  useImperativeHandle(ref, () => ({ show: (index) => { virtual.scrollToIndex(index, { align: 'center' }) } }), [virtual])
  // Of an endless log the number of lines stays the same in the end: what was dropped grows.
  useLayoutEffect(() => {
    if (following && length > 0) virtual.scrollToIndex(length - 1)
  }, [following, length, log.dropped, virtual])

  const scrolled = ({ scrollTop, scrollHeight, clientHeight }: HTMLDivElement) => {
    const atEnd = scrollHeight - scrollTop - clientHeight < near
    if (atEnd !== following && (atEnd || scrollTop < top.current)) onFollowing(atEnd)
    top.current = scrollTop
  }
  const press = ({ key }: KeyboardEvent) => {
    if (following && ['ArrowUp', 'PageUp', 'Home'].includes(key)) onFollowing(false)
  }
  return (
    // The keys and the wheel scroll it anyway; what listens only looks which way.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      ref={frame}
      className={`${styles.log!} ${className ?? ''}`}
      role={role}
      aria-label={label}
      aria-live="off"
      // What scrolls must be reached by keys.
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      onScroll={({ currentTarget }) => { scrolled(currentTarget) }}
      onKeyDown={press}
      onWheel={({ deltaY }) => { if (following && deltaY < 0) onFollowing(false) }}
    >
      {length === 0 && empty ? <p className="muted">{empty}</p> : null}
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map(({ index, start }) => (
          <div key={index} className={`${styles.line!} ${lineClass?.(index) ?? ''}`} style={{ transform: `translateY(${String(start)}px)` }}>
            {line(index)}
          </div>
        ))}
      </div>
    </div>
  )
}
