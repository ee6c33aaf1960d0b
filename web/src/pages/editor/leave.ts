import { TabFocus } from 'monaco-editor/editor/browser/config/tabFocus.js'
import { useSyncExternalStore } from 'react'
import { monaco } from './monaco'

/** What Escape closes in the editor before it leaves it. */
const open = [
  'editorHasSelection',
  'editorHasMultipleSelections',
  'editorHoverVisible',
  'findWidgetVisible',
  'inSnippetMode',
  'markersNavigationVisible',
  'parameterHintsVisible',
  'referenceSearchVisible',
  'renameInputVisible',
  'suggestWidgetVisible',
]

/** leaveWithEscape has Escape give the focus to what stands behind an editor, which takes Tab for itself. */
export function leaveWithEscape(editor: monaco.editor.IStandaloneCodeEditor, to: () => HTMLElement | null): void {
  editor.addAction({
    id: 'holdfast.leave',
    label: 'Leave the text',
    keybindings: [monaco.KeyCode.Escape],
    precondition: ['editorTextFocus', ...open.map((key) => `!${key}`)].join(' && '),
    run: () => { to()?.focus() },
  })
}

/** The key after which Tab moves the focus, as Monaco has it. */
export const tabKey = navigator.userAgent.includes('Macintosh') ? 'Ctrl+Shift+M' : 'Ctrl+M'

function subscribe(reader: () => void): () => void {
  const listening = TabFocus.onDidChangeTabFocus(reader)
  return () => { listening.dispose() }
}

/** useTabMoves tells whether Tab moves the focus now. */
export function useTabMoves(): boolean {
  return useSyncExternalStore(subscribe, () => TabFocus.getTabFocusMode())
}

/** before is what Tab would have come to before an element, where anything is. */
export function before(element: Element): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>('a[href], button:enabled, input:enabled, select:enabled, [tabindex="0"]')].findLast(
    (one) => one.checkVisibility() && (element.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_PRECEDING) !== 0 && !one.contains(element),
  )
}

/** isElsewhere tells that somebody is in a menu, a question or a field: an editor that is there only now takes the focus from none of them. */
export function isElsewhere(): boolean {
  const here = document.activeElement
  return here !== null && here.closest('.monaco-editor') === null && here.closest('[role="menu"], dialog[open], input, textarea, select') !== null
}
