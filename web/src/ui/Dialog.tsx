import { useId, useLayoutEffect, useRef, type ReactNode } from 'react'
import styles from './Dialog.module.css'

interface Props {
  title: string
  open: boolean
  onClose: () => void
  children: ReactNode
  wide?: boolean
}

const fields = ['input', 'textarea', 'select'].map((name) => `${name}:not([hidden], [disabled], [readonly])`).join(', ')

/**
 * Dialog is the platform's own modal dialog: the browser keeps the focus inside, makes the rest
 * inert and gives the focus back, and no style has to be injected to hold the page still.
 *
 * The focus begins in the first field, else on the button that closes: the first Enter says yes to nothing that
 * was not read, however the dialog came about.
 */
export function Dialog({ title, open, onClose, children, wide = false }: Props) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    const dialog = ref.current
    if (!dialog || !open) return
    const opener = document.activeElement
    dialog.showModal()
    dialog.querySelector<HTMLElement>(`.${styles.body!} :is(${fields})`)?.focus()
    return () => {
      // Before it is taken away: a dialog that goes with its part of the page would give no focus back.
      dialog.close()
      if (!opener?.isConnected) document.getElementById('content')?.focus({ preventScroll: true })
    }
  }, [open])
  return (
    <dialog
      ref={ref}
      className={wide ? styles.wide : styles.dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        // At once, and not when the browser says later that it has closed it: a key may open it again meanwhile.
        if (event.target !== ref.current) return
        event.preventDefault()
        onClose()
      }}
      onClose={() => {
        if (!ref.current?.open) onClose()
      }}
    >
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
