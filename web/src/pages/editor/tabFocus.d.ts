// Monaco tells nobody else what Tab does now, and has no types of it.
declare module 'monaco-editor/editor/browser/config/tabFocus.js' {
  export const TabFocus: {
    getTabFocusMode: () => boolean
    onDidChangeTabFocus: (reader: () => void) => { dispose: () => void }
  }
}
