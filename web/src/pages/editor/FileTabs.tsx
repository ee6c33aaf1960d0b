import type { OpenFile, SaveState } from './desk'
import styles from './Editor.module.css'

const marks: Record<SaveState, [mark: string, words: string]> = {
  saved: ['', ''],
  edited: ['●', 'not saved yet'],
  saving: ['◐', 'saving'],
  conflict: ['!', 'in conflict'],
  failed: ['✕', 'not saved'],
}

/** FileTabs is the open files, one of which is shown. */
export function FileTabs({ open, active, onShow, onClose }: { open: OpenFile[]; active: string | undefined; onShow: (path: string) => void; onClose: (path: string) => void }) {
  return (
    <ul className={styles.tabs} aria-label="Open files">
      {open.map(({ path, state }) => (
        <li key={path} className={path === active ? styles.tabHere : styles.tab}>
          <button type="button" className={styles.tabName} aria-current={path === active ? 'true' : undefined} title={path} onClick={() => { onShow(path) }}>
            {path.split('/').at(-1)}
            {marks[state][0] === '' ? null : (
              <>
                <span aria-hidden="true"> {marks[state][0]}</span>
                <span className="visually-hidden"> {marks[state][1]}</span>
              </>
            )}
          </button>
          <button type="button" className={styles.tabClose} aria-label={`Close ${path}`} onClick={() => { onClose(path) }}>✕</button>
        </li>
      ))}
    </ul>
  )
}
