import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useLayoutEffect, useRef, useState, type ReactNode } from 'react'
import type { Difference } from '@/lib/differences'
import { AttributeChanges } from './AttributeChanges'
import styles from './ChangeList.module.css'

/** Shown is one object's change as it is listed. */
export interface Shown {
  key: string
  sign: string
  word: string
  tone: 'done' | 'person' | 'loss' | 'still'
  address: string
  note?: ReactNode
  /** Worked out when it is opened: there may be thousands of objects. */
  attributes: () => Difference[]
  same?: () => number
}

const fewEnough = 20

/** ChangeList shows changes of objects, each with its attributes before and after. Few are open at first; of many, as many are drawn as the window reaches. */
export function ChangeList({ label, changes }: { label: string; changes: Shown[] }) {
  const frame = useRef<HTMLDivElement>(null)
  const [margin, setMargin] = useState(0)
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set())
  useLayoutEffect(() => {
    setMargin((frame.current?.getBoundingClientRect().top ?? 0) + window.scrollY)
  }, [])
  const virtual = useWindowVirtualizer({
    count: changes.length,
    estimateSize: () => 32,
    getItemKey: (index) => changes[index]!.key,
    overscan: 15,
    scrollMargin: margin,
  })
  const open = (change: Shown) => (changes.length <= fewEnough) !== turned.has(change.key)
  const turn = (key: string) => {
    const next = new Set(turned)
    if (!next.delete(key)) next.add(key)
    setTurned(next)
  }
  return (
    <div ref={frame} role="list" aria-label={label} className={styles.list} style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map((item) => {
        const change = changes[item.index]!
        return (
          <div key={item.key} ref={virtual.measureElement} data-index={item.index} role="listitem" className={styles.item} style={{ transform: `translateY(${String(item.start - margin)}px)` }}>
            <button type="button" className={styles.head} aria-expanded={open(change)} onClick={() => { turn(change.key) }}>
              <span aria-hidden="true" className={styles.turn}>{open(change) ? '▾' : '▸'}</span>
              <span aria-hidden="true" className={`${styles.sign!} ${styles[change.tone]!}`}>{change.sign}</span>
              <code>{change.address}</code>
              <span className={styles[change.tone]}>{change.word}</span>
              {change.note ? <span className="muted">{change.note}</span> : null}
            </button>
            {open(change) ? <Attributes change={change} /> : null}
          </div>
        )
      })}
    </div>
  )
}

function Attributes({ change }: { change: Shown }) {
  const attributes = change.attributes()
  const same = change.same?.() ?? 0
  return (
    <div className={styles.attributes}>
      {attributes.length > 0 ? <AttributeChanges changes={attributes} /> : <p className="muted">No attribute differs.</p>}
      {same > 0 ? <p className="muted">{same.toLocaleString()} unchanged</p> : null}
    </div>
  )
}
