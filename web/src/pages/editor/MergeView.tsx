import { useEffect, useRef } from 'react'
import { Button } from '@/ui/Button'
import type { OpenFile } from './desk'
import styles from './Editor.module.css'
import { leaveWithEscape } from './leave'
import { applyColours, font, languageOf, monaco } from './monaco'
import { WayOut } from './WayOut'

interface Props {
  file: OpenFile
  /** Takes each change of the right side, so that it outlives this view. */
  onEdit: (text: string) => void
  onMine: (text: string) => void
  onTheirs: () => void
}

/** MergeView shows what somebody else has saved beside what was typed here, which stays open for typing. */
export default function MergeView({ file, onEdit, onMine, onTheirs }: Props) {
  const frame = useRef<HTMLDivElement>(null)
  const wayOut = useRef<HTMLParagraphElement>(null)
  const mine = useRef<monaco.editor.ITextModel>(undefined)
  const theirs = file.theirs?.text ?? ''
  const gone = file.theirs?.sha256 === null
  const binary = !gone && file.theirs?.text === null
  const { path, text } = file
  const latest = useRef({ text, onEdit })
  useEffect(() => {
    latest.current = { text, onEdit }
  })
  useEffect(() => {
    applyColours()
    const original = monaco.editor.createModel(theirs, languageOf(path))
    const modified = monaco.editor.createModel(latest.current.text, languageOf(path))
    const editor = monaco.editor.createDiffEditor(frame.current!, {
      automaticLayout: true,
      fontFamily: font(),
      fontSize: 13,
      originalEditable: false,
      renderSideBySide: true,
      useInlineViewWhenSpaceIsLimited: false,
      minimap: { enabled: false },
      scrollBeyondLastLine: false,
      fixedOverflowWidgets: true,
      originalAriaLabel: 'What somebody else has saved',
      modifiedAriaLabel: 'What you have typed',
    })
    editor.setModel({ original, modified })
    for (const side of [editor.getOriginalEditor(), editor.getModifiedEditor()]) leaveWithEscape(side as monaco.editor.IStandaloneCodeEditor, () => wayOut.current)
    mine.current = modified
    const typed = modified.onDidChangeContent(() => { latest.current.onEdit(modified.getValue()) })
    return () => {
      typed.dispose()
      editor.dispose()
      original.dispose()
      modified.dispose()
    }
  }, [theirs, path])
  return (
    <div className={styles.merge}>
      <div className={styles.mergeHead} role="alert">
        <p>
          <strong>Somebody else has {gone ? 'deleted' : binary ? 'put a file that is no text in the place of' : 'saved'} this file meanwhile.</strong> Nothing of either is lost: at the left is
          theirs, at the right yours. Make the right one what it is to be.
        </p>
        <Button kind="main" onClick={() => { onMine(mine.current!.getValue()) }}>Save the right one</Button>
        <Button onClick={onTheirs}>{gone ? 'Let it be deleted' : 'Take theirs'}</Button>
      </div>
      <div className={styles.mergeSides} aria-hidden="true">
        <span>Theirs, as it is saved</span>
        <span>Yours</span>
      </div>
      <div ref={frame} className={styles.code} data-testid="merge" />
      <WayOut ref={wayOut} />
    </div>
  )
}
