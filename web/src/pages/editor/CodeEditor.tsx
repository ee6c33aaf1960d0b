import { useEffect, useRef } from 'react'
import type { Diagnostic } from '@/api/types'
import { signedIn } from '@/api/signedIn'
import { isSameText } from '@/lib/lineEnds'
import type { OpenFile } from './desk'
import styles from './Editor.module.css'
import { isElsewhere, leaveWithEscape, tabKey } from './leave'
import { applyColours, font, languageOf, monaco } from './monaco'
import { WayOut } from './WayOut'

interface Props {
  /** Who has the file open; see nameOf. */
  holder: string
  workspace: string
  file: OpenFile
  readOnly: boolean
  diagnostics: Diagnostic[]
  /** The line to go to; the same line again when the number behind it grows. */
  line: { line: number; at: number } | undefined
  onEdit: (path: string, text: string) => void
  onSave: () => void
}

/** Models and where one was in them live as long as somebody is signed in, so that going back to a tab is going back to its place. */
const places = new Map<string, monaco.editor.ICodeEditorViewState | null>()
const scheme = 'holdfast'

function modelOf(holder: string, workspace: string, { path, text }: OpenFile): monaco.editor.ITextModel {
  const uri = monaco.Uri.from({ scheme, path: `/${holder}/${workspace}/-/${path}` })
  return monaco.editor.getModel(uri) ?? monaco.editor.createModel(text, languageOf(path), uri)
}

/** forget drops the texts of who is not signed in any more. */
function forget(): void {
  places.clear()
  for (const model of monaco.editor.getModels()) if (model.uri.scheme === scheme) model.dispose()
}

/** CodeEditor is Monaco with one file of a workspace. */
export default function CodeEditor({ holder, workspace, file, readOnly, diagnostics, line, onEdit, onSave }: Props) {
  const frame = useRef<HTMLDivElement>(null)
  const wayOut = useRef<HTMLParagraphElement>(null)
  const editor = useRef<monaco.editor.IStandaloneCodeEditor>(undefined)
  // While the page itself changes what is shown: that is nobody's typing, and nothing to save.
  const filling = useRef(false)
  const latest = useRef({ holder, file, onEdit, onSave })
  useEffect(() => {
    latest.current = { holder, file, onEdit, onSave }
  })

  useEffect(() => {
    applyColours()
    const made = monaco.editor.create(frame.current!, {
      model: null,
      automaticLayout: true,
      fontFamily: font(),
      fontSize: 13,
      minimap: { enabled: false },
      scrollBeyondLastLine: false,
      tabSize: 2,
      insertSpaces: true,
      wordBasedSuggestions: 'allDocuments',
      renderWhitespace: 'selection',
      fixedOverflowWidgets: true,
      bracketPairColorization: { enabled: false },
    })
    editor.current = made
    made.addCommand(monaco.KeyMod.CtrlCmd | monaco.KeyCode.KeyS, () => { latest.current.onSave() })
    leaveWithEscape(made, () => wayOut.current)
    const typed = made.onDidChangeModelContent((event) => {
      if (!event.isFlush && !filling.current) latest.current.onEdit(latest.current.file.path, made.getValue({ preserveBOM: true, lineEnding: '' }))
    })
    const darkness = matchMedia('(prefers-color-scheme: dark)')
    const themes = new MutationObserver(applyColours)
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    darkness.addEventListener('change', applyColours)
    return () => {
      themes.disconnect()
      darkness.removeEventListener('change', applyColours)
      typed.dispose()
      made.dispose()
      if (signedIn.holder !== latest.current.holder) forget()
    }
  }, [])

  const key = `${holder}/${workspace}/-/${file.path}`
  useEffect(() => {
    const made = editor.current!
    made.setModel(modelOf(holder, workspace, latest.current.file))
    made.restoreViewState(places.get(key) ?? null)
    // A menu would close.
    if (!isElsewhere()) made.focus()
    return () => {
      places.set(key, made.saveViewState())
    }
  }, [holder, workspace, file.path, key])

  // What came from outside goes in as an edit, so that the cursor stays and undo goes back.
  useEffect(() => {
    const model = modelOf(holder, workspace, latest.current.file)
    const { text } = latest.current.file
    if (isSameText(model.getValue(), text)) return
    filling.current = true
    try {
      model.pushEditOperations([], [{ range: model.getFullModelRange(), text }], () => null)
    } finally {
      filling.current = false
    }
  }, [holder, workspace, file.path, file.outside])

  useEffect(() => {
    editor.current!.updateOptions({ readOnly: readOnly || file.binary, ariaLabel: `${file.path}. Escape leaves the text. Tab indents; after ${tabKey} it moves the focus.` })
  }, [readOnly, file.binary, file.path])

  useEffect(() => {
    const model = modelOf(holder, workspace, latest.current.file)
    monaco.editor.setModelMarkers(model, 'run', diagnostics.filter((found) => found.file === file.path && found.line !== undefined).map(markerOf(model)))
  }, [holder, workspace, file.path, diagnostics])

  useEffect(() => {
    if (!line) return
    editor.current!.revealLineInCenter(line.line)
    editor.current!.setPosition({ lineNumber: line.line, column: 1 })
    if (!isElsewhere()) editor.current!.focus()
  }, [line, file.path])

  return (
    <>
      <div ref={frame} className={styles.code} data-testid="code" />
      <WayOut ref={wayOut} />
    </>
  )
}

function markerOf(model: monaco.editor.ITextModel) {
  return ({ line = 1, severity, summary, detail }: Diagnostic): monaco.editor.IMarkerData => {
    const row = Math.min(line, model.getLineCount())
    return {
      startLineNumber: row,
      endLineNumber: row,
      startColumn: model.getLineFirstNonWhitespaceColumn(row) || 1,
      endColumn: model.getLineMaxColumn(row),
      severity: severity === 'error' ? monaco.MarkerSeverity.Error : monaco.MarkerSeverity.Warning,
      message: detail === undefined ? summary : `${summary}\n${detail}`,
      source: 'run',
    }
  }
}
