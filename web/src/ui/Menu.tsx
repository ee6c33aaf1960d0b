import { useEffect, useRef, useState, type ReactNode } from 'react'
import type RadixMenu from './RadixMenu'
import styles from './Menu.module.css'
import { useIdle } from './useIdle'

export interface MenuItem {
  label: string
  /** Said beside it where it has been chosen. */
  chosen?: boolean
  loss?: boolean
  run: () => void
}

export interface MenuProps {
  label: string
  children: ReactNode
  heading?: ReactNode
  items: MenuItem[]
}

/**
 * Menu opens a list of things to do. It is no modal: the page behind it stays as it is. What opens is loaded when the
 * browser has time, or at once when it is asked for: the first page is there sooner without it.
 */
export function Menu(props: MenuProps) {
  const button = useRef<HTMLButtonElement>(null)
  const idle = useIdle()
  const [asked, setAsked] = useState(false)
  const [loaded, setLoaded] = useState<{ Shown: typeof RadixMenu; focused: boolean }>()
  const wanted = idle || asked
  useEffect(() => {
    if (!wanted) return
    let gone = false
    import('./RadixMenu').then(
      ({ default: Shown }) => { if (!gone) setLoaded({ Shown, focused: document.activeElement === button.current }) },
      // The page says by itself that a part of it could not be loaded.
      () => undefined,
    )
    return () => { gone = true }
  }, [wanted])
  if (loaded) return <loaded.Shown {...props} asked={asked} focused={loaded.focused} />
  return (
    <button ref={button} type="button" className={styles.trigger} aria-label={props.label} aria-haspopup="menu" aria-expanded={false} onClick={() => { setAsked(true) }}>
      {props.children}
    </button>
  )
}
