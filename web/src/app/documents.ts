/**
 * The editor's styles need a wider content policy than the rest of the page has, and a policy belongs to a
 * document. So the editor has documents of its own: who goes there, or away from there, loads one.
 */
export function isEditorPath(path: string): boolean {
  return path.startsWith('/editor/')
}

const began = typeof window === 'undefined' ? '' : window.location.pathname.replace(/^\/ui/, '')

/** isOtherDocument says that a path can't be shown by the document that is loaded. */
export function isOtherDocument(path: string, from = began): boolean {
  return isEditorPath(path) !== isEditorPath(from)
}
