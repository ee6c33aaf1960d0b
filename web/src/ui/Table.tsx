import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useLayoutEffect, useRef, useState, type ReactNode } from 'react'
import { useShortcuts } from './keys'
import styles from './Table.module.css'

/** Column is one column of a table of rows of a kind. */
export interface Column<Row> {
  title: string
  cell: (row: Row) => ReactNode
  align?: 'right'
  /** A width such as '8rem'; without one the column shares what is left. */
  width?: string
  /** Left out where there is little room. */
  secondary?: boolean
}

interface Props<Row> {
  label: string
  columns: Column<Row>[]
  rows: Row[]
  rowKey: (row: Row) => string
  /** Whether j, k and o belong to this table; one table of a page has them. */
  keys?: boolean
  /** Called when the last row comes near. */
  onEnd?: (() => void) | undefined
  isMarked?: (row: Row) => boolean
}

const rowHeight = 33
const virtualFrom = 100

/**
 * Table shows rows, each with a link of its own that j and k go to and o opens. Many rows are
 * shown as far as the window reaches.
 */
export function Table<Row>({ label, columns, rows, rowKey, keys = true, onEnd, isMarked }: Props<Row>) {
  const frame = useRef<HTMLTableElement>(null)
  const [margin, setMargin] = useState(0)
  const [current, setCurrent] = useState(-1)
  const wanted = useRef(-1)
  const many = rows.length > virtualFrom
  useLayoutEffect(() => {
    setMargin((frame.current?.getBoundingClientRect().top ?? 0) + window.scrollY)
  }, [many])
  const virtual = useWindowVirtualizer({
    count: many ? rows.length : 0,
    estimateSize: () => rowHeight,
    overscan: 20,
    scrollMargin: margin,
    scrollPaddingStart: 96,
    scrollPaddingEnd: 48,
  })
  const shown = many ? virtual.getVirtualItems().map(({ index }) => index) : rows.map((_, index) => index)
  const first = shown[0] ?? 0
  const last = shown.at(-1) ?? -1

  useLayoutEffect(() => {
    if (wanted.current < 0) return
    const link = frame.current?.querySelector<HTMLElement>(`[data-row="${String(wanted.current)}"] :is(a, button)`)
    if (!link) return
    wanted.current = -1
    link.focus({ preventScroll: many })
  })
  useLayoutEffect(() => {
    if (onEnd && last >= rows.length - 20) onEnd()
  }, [last, rows.length, onEnd])

  const go = (by: number) => {
    const next = Math.min(Math.max(current + by, 0), rows.length - 1)
    wanted.current = next
    setCurrent(next)
    if (many) virtual.scrollToIndex(next)
  }
  const open = () => frame.current?.querySelector<HTMLElement>(`[data-row="${String(current)}"] :is(a, button)`)?.click()
  useShortcuts(
    keys
      ? [
          { keys: 'j', does: 'Next row', run: () => { go(1) } },
          { keys: 'k', does: 'Previous row', run: () => { go(-1) } },
          { keys: 'o', does: 'Open the row', run: open },
        ]
      : [],
  )

  return (
    <table ref={frame} className={styles.table} aria-label={label} aria-rowcount={rows.length + 1}>
      <colgroup>
        {columns.map((column) => (
          <col key={column.title} style={column.width === undefined ? undefined : { width: column.width }} className={column.secondary ? styles.secondary : undefined} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.title} scope="col" className={classes(column)}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <Gap height={first * rowHeight} columns={columns.length} />
        {shown.map((index) => {
          const row = rows[index]!
          return (
            <tr key={rowKey(row)} data-row={index} aria-rowindex={index + 2} className={isMarked?.(row) ? styles.marked : undefined} onFocus={() => { setCurrent(index) }}>
              {columns.map((column) => (
                <td key={column.title} className={classes(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          )
        })}
        <Gap height={many ? (rows.length - 1 - last) * rowHeight : 0} columns={columns.length} />
      </tbody>
    </table>
  )
}

function classes<Row>(column: Column<Row>): string | undefined {
  return [column.align === 'right' && styles.right, column.secondary && styles.secondary].filter(Boolean).join(' ') || undefined
}

/** Gap takes the place of rows that are out of sight. */
function Gap({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null
  return (
    <tr aria-hidden="true">
      <td colSpan={columns} className={styles.gap} style={{ height }} />
    </tr>
  )
}
