import { useState, type SyntheticEvent } from 'react'
import type { FileEntry } from '@/api/types'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { Field } from '@/ui/Field'
import styles from './Editor.module.css'
import { whyNot } from './tree'

/** PathDialog asks for the path of a new file, or another one of a file that is there. */
export function PathDialog({ title, verb, first, files, onDone, onClose }: { title: string; verb: string; first: string; files: FileEntry[]; onDone: (path: string) => void; onClose: () => void }) {
  const [path, setPath] = useState(first)
  const wrong = path === first ? (first === '' ? ' ' : '') : whyNot(path, files)
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (wrong === '' && path !== '') onDone(path)
  }
  return (
    <Dialog title={title} open onClose={onClose}>
      <form onSubmit={submit} className={styles.approval}>
        <Field label="Path" value={path} onChange={({ target }) => { setPath(target.value) }} help={wrong.trim() === '' ? 'With slashes for folders, such as modules/web/main.tf.' : wrong} spellCheck={false} autoCapitalize="off" />
        <div className={styles.approvalButtons}>
          <Button kind="main" type="submit" disabled={wrong !== '' || path === first}>{verb}</Button>
          <Button kind="quiet" onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}

/** DeleteDialog asks before a file goes. */
export function DeleteDialog({ path, onDone, onClose }: { path: string; onDone: () => void; onClose: () => void }) {
  return (
    <Dialog title={`Delete ${path}?`} open onClose={onClose}>
      <div className={styles.approval}>
        <p>Earlier configurations keep it: <code>holdfast config</code> brings it back from there.</p>
        <div className={styles.approvalButtons}>
          <Button kind="loss" onClick={onDone}>Delete</Button>
          <Button kind="quiet" onClick={onClose}>Cancel</Button>
        </div>
      </div>
    </Dialog>
  )
}

/** DropDialog asks before a text that is saved nowhere goes with its tab. */
export function DropDialog({ path, onDone, onClose }: { path: string; onDone: () => void; onClose: () => void }) {
  return (
    <Dialog title={`Close ${path} without your changes?`} open onClose={onClose}>
      <div className={styles.approval}>
        <p>Somebody else has changed this file meanwhile, and what you have typed is saved nowhere.</p>
        <div className={styles.approvalButtons}>
          <Button kind="loss" onClick={onDone}>Drop my changes</Button>
          <Button kind="quiet" onClick={onClose}>Keep it open</Button>
        </div>
      </div>
    </Dialog>
  )
}
