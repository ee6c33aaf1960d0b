import { useEffect, useRef, useState, type ReactNode } from 'react'
import styles from './Filters.module.css'

/** Filters is the line above a table that says which of its rows are wanted. */
export function Filters({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div role="search" aria-label={label} className={styles.filters}>
      {children}
    </div>
  )
}

interface TextProps {
  label: string
  value: string
  onChange: (value: string) => void
  wide?: boolean
  list?: string[]
  type?: 'search' | 'datetime-local'
}

/** FilterText is words to filter by. They count when nothing was typed for a moment, so that not each letter asks the server. */
export function FilterText({ label, value, onChange, wide = false, list, type = 'search' }: TextProps) {
  const [text, setText] = useState(value)
  const said = useRef(value)
  const id = `list-${label.replace(/\W/g, '')}`
  const tell = useRef(onChange)
  useEffect(() => {
    tell.current = onChange
  })
  useEffect(() => {
    if (value !== said.current) {
      said.current = value
      setText(value)
    }
  }, [value])
  useEffect(() => {
    if (text === said.current) return
    const timer = setTimeout(() => {
      said.current = text
      tell.current(text)
    }, 250)
    return () => { clearTimeout(timer) }
  }, [text])
  return (
    <>
      <input
        type={type}
        aria-label={label}
        title={label}
        placeholder={label}
        className={wide ? styles.wide : styles.text}
        value={text}
        list={list ? id : undefined}
        onChange={(event) => { setText(event.target.value) }}
      />
      {list ? (
        <datalist id={id}>
          {list.map((item) => (
            <option key={item} value={item} />
          ))}
        </datalist>
      ) : null}
    </>
  )
}
