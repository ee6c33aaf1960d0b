import { useEffect, useId, useRef, type ReactNode } from 'react'
import styles from './Dialog.module.css'

interface Props {
  title: string
  open: boolean
  onClose: () => void
  children: ReactNode
  wide?: boolean
}

/**
 * Dialog is the platform's own modal dialog: the browser keeps the focus inside, makes the rest
 * inert and gives the focus back, and no style has to be injected to hold the page still.
 */
export function Dialog({ title, open, onClose, children, wide = false }: Props) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current
    if (!dialog) return
    if (open && !dialog.open) dialog.showModal()
    if (!open && dialog.open) dialog.close()
  }, [open])
  return (
    <dialog ref={ref} className={wide ? styles.wide : styles.dialog} aria-labelledby={id} onClose={onClose}>
      {open ? (
        <>
          <header className={styles.header}>
            <h2 id={id}>{title}</h2>
            <button type="button" className={styles.close} onClick={onClose} aria-label="Close">
              ✕
            </button>
          </header>
          <div className={styles.body}>{children}</div>
        </>
      ) : null}
    </dialog>
  )
}
