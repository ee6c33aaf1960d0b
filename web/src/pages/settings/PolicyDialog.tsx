import { useState, type SyntheticEvent } from 'react'
import type { Where } from '@/api/policies'
import type { Policy, PolicyFile } from '@/api/types'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { Choice, Field, TextField } from '@/ui/Field'
import { Failed } from '@/ui/states'
import { changed, policyFile, pricesFile, pricesPath, problemOf, waiversFile, waiversPath, type Bundle } from './policyFiles'
import styles from './Settings.module.css'

/** Wanted is the version that is to be pushed. */
export interface Wanted {
  where: Where
  enforce: Policy['enforce']
  files: PolicyFile[]
  message: string
}

interface Props {
  bundle: Bundle
  /** The bundle is there already: its name and what it is for stay. */
  known?: boolean
  busy: boolean
  error: unknown
  onDone: (wanted: Wanted) => void
  onClose: () => void
}

/** PolicyDialog edits the files of a bundle: policies, waivers and prices. What is wrong with them, the server says with file and line. */
export function PolicyDialog({ bundle, known = false, busy, error, onDone, onClose }: Props) {
  const [name, setName] = useState(bundle.name)
  const [workspace, setWorkspace] = useState(bundle.workspace)
  const [enforce, setEnforce] = useState(bundle.enforce)
  const [files, setFiles] = useState(bundle.files)
  const [open, setOpen] = useState(0)
  const [message, setMessage] = useState('')
  const shown = Math.min(open, files.length - 1)
  const file = files[shown]
  const today = new Date().toISOString().slice(0, 10)
  const problem = problemOf(files)
  const add = (more: PolicyFile) => {
    setFiles([...files, more])
    setOpen(files.length)
  }
  const has = (path: string) => files.some((one) => one.path === path)
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (problem === undefined) onDone({ where: { name: name.trim(), workspace: workspace.trim() || undefined }, enforce, files, message: message.trim() })
  }
  return (
    <Dialog title={known ? `Edit ${bundle.workspace === '' ? '' : `${bundle.workspace}/`}${bundle.name}` : 'Make a bundle'} open wide onClose={onClose}>
      <form className={styles.dialog} onSubmit={submit}>
        {known ? null : (
          <>
            <Field label="Name" required value={name} onChange={({ target }) => { setName(target.value) }} autoComplete="off" spellCheck={false} />
            <Field label="Workspace" value={workspace} onChange={({ target }) => { setWorkspace(target.value) }} help="Without one, it counts for all of the organization’s." autoComplete="off" spellCheck={false} />
          </>
        )}
        <Choice label="A plan that it denies" value={enforce} onChange={({ target }) => { setEnforce(target.value as Policy['enforce']) }}>
          <option value="advise">has a finding</option>
          <option value="hold">waits for somebody who may approve</option>
          <option value="refuse">is not applied</option>
        </Choice>
        <div className={styles.buttons}>
          <Choice label="File" value={String(shown)} onChange={({ target }) => { setOpen(Number(target.value)) }}>
            {files.map(({ path }, i) => <option key={i} value={String(i)}>{path}</option>)}
          </Choice>
          <Button kind="quiet" onClick={() => { add(policyFile(files)) }}>Add a policy</Button>
          {has(waiversPath) ? null : <Button kind="quiet" onClick={() => { add(waiversFile(today)) }}>Add waivers</Button>}
          {has(pricesPath) ? null : <Button kind="quiet" onClick={() => { add(pricesFile(today)) }}>Add prices</Button>}
          {files.length > 1 ? <Button kind="quiet" onClick={() => { setFiles(files.filter((_, i) => i !== shown)); setOpen(0) }}>Take this file out</Button> : null}
        </div>
        {file ? (
          <>
            <Field label="Name of the file" value={file.path} onChange={({ target }) => { setFiles(changed(files, shown, { ...file, path: target.value })) }} autoComplete="off" spellCheck={false} />
            <TextField label="Text" rows={16} className={styles.policyText} value={file.content} onChange={({ target }) => { setFiles(changed(files, shown, { ...file, content: target.value })) }} spellCheck={false} />
          </>
        ) : null}
        <Field label="Why, if you like" value={message} maxLength={500} onChange={({ target }) => { setMessage(target.value) }} />
        {problem === undefined ? null : <p role="alert">{problem}</p>}
        {error ? <Failed error={error} /> : null}
        <p className="muted">It is compiled and its tests are run before it counts. Plans that wait and were shown to what it was before are out of date then.</p>
        <div className={styles.buttons}>
          <Button kind="main" type="submit" busy={busy} disabled={busy || problem !== undefined || name.trim() === ''}>Push it</Button>
          <Button kind="quiet" onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}
