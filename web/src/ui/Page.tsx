import { useEffect, type ReactNode } from 'react'
import styles from './Page.module.css'

interface Props {
  title: ReactNode
  /** The window's title, where the page's own is more than text. */
  name: string
  line?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

/** Page has a title, what it is in a line, its actions at the right, then its content. */
export function Page({ title, name, line, actions, children }: Props) {
  useEffect(() => {
    document.title = `${name} · Holdfast`
  }, [name])
  return (
    <>
      <header className={styles.header}>
        <div className={styles.titles}>
          <h1>{title}</h1>
          {line === undefined ? null : <div className="muted">{line}</div>}
        </div>
        {actions === undefined ? null : <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </>
  )
}

/** Section is a part of a page with a title of its own. */
export function Section({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className={styles.section} aria-label={title}>
      <div className={styles.sectionHeader}>
        <h2>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  )
}
