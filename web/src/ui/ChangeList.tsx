import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import type { Difference } from '@/lib/differences'
import { branchesOf, type Branch } from '@/lib/modules'
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
  /** What else there is to say of it. */
  beside?: ReactNode
  /** Worked out when it is opened: there may be thousands of objects. */
  attributes: () => Difference[]
  same?: () => number
}

/** Up to so many are open at first, and up to so many are drawn whether they are in sight or not. */
const fewEnough = 20
const allDrawn = 200

interface Props {
  label: string
  changes: Shown[]
  /** It stands in a part of the page that scrolls by itself: then all of it is drawn, up to some hundreds. */
  inside?: boolean
}

/** ChangeList shows changes of objects as a tree by module, each with its attributes before and after. Of many, as many are drawn as the window reaches. */
export function ChangeList({ label, changes, inside = false }: Props) {
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set())
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const shown = inside ? changes.slice(0, 2 * allDrawn) : changes
  const rows = useMemo(() => branchesOf(shown, closed), [shown, closed])
  const row = (branch: Branch<Shown>) => (
    <Row branch={branch} open={branch.kind === 'item' && (changes.length <= fewEnough) !== turned.has(branch.item.key)} onTurn={(key) => { setTurned(toggled(turned, key)) }} onClose={(path) => { setClosed(toggled(closed, path)) }} />
  )
  if (!inside && rows.length > allDrawn) return <Many label={label} rows={rows} row={row} />
  return (
    <>
      <div role="list" aria-label={label}>
        {rows.map((branch) => (
          <div key={keyOf(branch)} role="listitem" className={styles.item}>{row(branch)}</div>
        ))}
      </div>
      {shown.length < changes.length ? <p className="muted">and {(changes.length - shown.length).toLocaleString()} more</p> : null}
    </>
  )
}

function toggled(all: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(all)
  if (!next.delete(key)) next.add(key)
  return next
}

function keyOf(branch: Branch<Shown>): string {
  return branch.kind === 'module' ? `module ${branch.path}` : branch.item.key
}

/** Many draws those rows that the window reaches. */
function Many({ label, rows, row }: { label: string; rows: Branch<Shown>[]; row: (branch: Branch<Shown>) => ReactNode }) {
  const frame = useRef<HTMLDivElement>(null)
  const [margin, setMargin] = useState(0)
  useLayoutEffect(() => {
    setMargin((frame.current?.getBoundingClientRect().top ?? 0) + window.scrollY)
  }, [])
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => 32,
    getItemKey: (index) => keyOf(rows[index]!),
    overscan: 15,
    scrollMargin: margin,
  })
  return (
    <div ref={frame} role="list" aria-label={label} className={styles.list} style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map((item) => (
        <div key={item.key} ref={virtual.measureElement} data-index={item.index} role="listitem" className={`${styles.item!} ${styles.placed!}`} style={{ transform: `translateY(${String(item.start - margin)}px)` }}>
          {row(rows[item.index]!)}
        </div>
      ))}
    </div>
  )
}

interface RowProps {
  branch: Branch<Shown>
  open: boolean
  onTurn: (key: string) => void
  onClose: (path: string) => void
}

function Row({ branch, open, onTurn, onClose }: RowProps) {
  const indent = { paddingInlineStart: `${String(4 + branch.depth * 20)}px` }
  if (branch.kind === 'module') {
    return (
      <button type="button" className={styles.head} style={indent} aria-expanded={branch.open} title={branch.path} onClick={() => { onClose(branch.path) }}>
        <span aria-hidden="true" className={styles.turn}>{branch.open ? '▾' : '▸'}</span>
        <code className={styles.module}>{branch.label}</code>
        <span className="muted">{branch.inside.toLocaleString()}</span>
      </button>
    )
  }
  const change = branch.item
  return (
    <>
      <button type="button" className={styles.head} style={indent} aria-expanded={open} title={change.address} onClick={() => { onTurn(change.key) }}>
        <span aria-hidden="true" className={styles.turn}>{open ? '▾' : '▸'}</span>
        <span aria-hidden="true" className={`${styles.sign!} ${styles[change.tone]!}`}>{change.sign}</span>
        <code>{branch.label}</code>
        <span className={styles[change.tone]}>{change.word}</span>
        {change.note ? <span className="muted">{change.note}</span> : null}
        {change.beside}
      </button>
      {open ? <div style={indent}><Attributes change={change} /></div> : null}
    </>
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
