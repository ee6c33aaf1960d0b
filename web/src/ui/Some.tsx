import { useState, type ReactNode } from 'react'
import { Button } from './Button'

const atOnce = 100

interface Props<Item> {
  label: string
  items: Item[]
  itemKey: (item: Item, index: number) => string
  className?: string | undefined
  children: (item: Item) => ReactNode
}

/** Some lists the first hundred of many things, and more when they are asked for. */
export function Some<Item>({ label, items, itemKey, className, children }: Props<Item>) {
  const [shown, setShown] = useState(atOnce)
  const left = items.length - shown
  return (
    <>
      <ul aria-label={label} className={className}>
        {items.slice(0, shown).map((item, index) => (
          <li key={itemKey(item, index)}>{children(item)}</li>
        ))}
      </ul>
      {left > 0 ? <Button onClick={() => { setShown(shown + atOnce) }}>Show {Math.min(left, atOnce)} more of {items.length.toLocaleString()}</Button> : null}
    </>
  )
}
