import { useEffect, useRef } from 'react'
import { Button } from '@/ui/Button'
import type { OpenFile } from './desk'
import styles from './Editor.module.css'
import { applyColours, font, languageOf, monaco } from './monaco'

interface Props {
  file: OpenFile
  onMine: (text: string) => void
  onTheirs: () => void
}

/** MergeView shows what somebody else has saved beside what was typed here, which stays open for typing. */
export default function MergeView({ file, onMine, onTheirs }: Props) {
  const frame = useRef<HTMLDivElement>(null)
  const mine = useRef<monaco.editor.ITextModel>(undefined)
  const theirs = file.theirs?.text ?? ''
  const { path, text } = file
  const first = useRef(text)
  useEffect(() => {
    applyColours()
    const original = monaco.editor.createModel(theirs, languageOf(path))
    const modified = monaco.editor.createModel(mine.current?.isDisposed() === false ? mine.current.getValue() : first.current, languageOf(path))
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
    mine.current = modified
    return () => {
      editor.dispose()
      original.dispose()
      modified.dispose()
    }
  }, [theirs, path])
  return (
    <div className={styles.merge}>
      <div className={styles.mergeHead} role="alert">
        <p>
          <strong>Somebody else has {file.theirs?.text === null ? 'deleted' : 'saved'} this file meanwhile.</strong> Nothing of either is lost: at the left is
          theirs, at the right yours. Make the right one what it is to be.
        </p>
        <Button kind="main" onClick={() => { onMine(mine.current!.getValue()) }}>Save the right one</Button>
        <Button onClick={onTheirs}>{file.theirs?.text === null ? 'Let it be deleted' : 'Take theirs'}</Button>
      </div>
      <div className={styles.mergeSides} aria-hidden="true">
        <span>Theirs, as it is saved</span>
        <span>Yours</span>
      </div>
      <div ref={frame} className={styles.code} data-testid="merge" />
    </div>
  )
}
