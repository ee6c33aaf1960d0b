import { useEffect, useRef } from 'react'
import type { Diagnostic } from '@/api/types'
import type { OpenFile } from './desk'
import styles from './Editor.module.css'
import { applyColours, font, languageOf, monaco } from './monaco'

interface Props {
  workspace: string
  file: OpenFile
  readOnly: boolean
  diagnostics: Diagnostic[]
  /** The line to go to; the same line again when the number behind it grows. */
  line: { line: number; at: number } | undefined
  onEdit: (path: string, text: string) => void
  onSave: () => void
}

/** Models and where one was in them live as long as the page, so that going back to a tab is going back to its place. */
const places = new Map<string, monaco.editor.ICodeEditorViewState | null>()

function modelOf(workspace: string, { path, text }: OpenFile): monaco.editor.ITextModel {
  const uri = monaco.Uri.from({ scheme: 'holdfast', path: `/${workspace}/-/${path}` })
  return monaco.editor.getModel(uri) ?? monaco.editor.createModel(text, languageOf(path), uri)
}

/** CodeEditor is Monaco with one file of a workspace. */
export default function CodeEditor({ workspace, file, readOnly, diagnostics, line, onEdit, onSave }: Props) {
  const frame = useRef<HTMLDivElement>(null)
  const editor = useRef<monaco.editor.IStandaloneCodeEditor>(undefined)
  const latest = useRef({ file, onEdit, onSave })
  useEffect(() => {
    latest.current = { file, onEdit, onSave }
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
    const typed = made.onDidChangeModelContent((event) => {
      if (!event.isFlush) latest.current.onEdit(latest.current.file.path, made.getValue())
    })
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const themes = new MutationObserver(applyColours)
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    scheme.addEventListener('change', applyColours)
    return () => {
      themes.disconnect()
      scheme.removeEventListener('change', applyColours)
      typed.dispose()
      made.dispose()
    }
  }, [])

  const key = `${workspace}/-/${file.path}`
  useEffect(() => {
    const made = editor.current!
    made.setModel(modelOf(workspace, latest.current.file))
    made.restoreViewState(places.get(key) ?? null)
    made.focus()
    return () => {
      places.set(key, made.saveViewState())
    }
  }, [workspace, file.path, key])

  // What came from outside goes in as an edit, so that the cursor stays and undo goes back.
  useEffect(() => {
    const model = modelOf(workspace, latest.current.file)
    const { text } = latest.current.file
    if (model.getValue() === text) return
    model.pushEditOperations([], [{ range: model.getFullModelRange(), text }], () => null)
  }, [workspace, file.path, file.outside])

  useEffect(() => {
    editor.current!.updateOptions({ readOnly: readOnly || file.binary, ariaLabel: file.path })
  }, [readOnly, file.binary, file.path])

  useEffect(() => {
    const model = modelOf(workspace, latest.current.file)
    monaco.editor.setModelMarkers(model, 'run', diagnostics.filter((found) => found.file === file.path && found.line !== undefined).map(markerOf(model)))
  }, [workspace, file.path, diagnostics])

  useEffect(() => {
    if (!line) return
    editor.current!.revealLineInCenter(line.line)
    editor.current!.setPosition({ lineNumber: line.line, column: 1 })
    editor.current!.focus()
  }, [line, file.path])

  return <div ref={frame} className={styles.code} data-testid="code" />
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
