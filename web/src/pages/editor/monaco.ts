// Monaco, with what this page uses of it. It is loaded with the editor page only.
import * as monaco from 'monaco-editor/editor/editor.api.js'
import 'monaco-editor/features/register.all.js'
import 'monaco-editor/languages/definitions/hcl/register.js'
import 'monaco-editor/languages/definitions/yaml/register.js'
import 'monaco-editor/languages/definitions/markdown/register.js'
import 'monaco-editor/languages/definitions/shell/register.js'
import 'monaco-editor/languages/features/json/register.js'
import editorWorker from 'monaco-editor/editor/editor.worker.js?worker&url'
import jsonWorker from 'monaco-editor/languages/features/json/json.worker.js?worker&url'

// The workers are files of ours. What a script may be loaded from has to pass a policy of trusted types;
// this one lets nothing through but these two.
const ours = new Set([editorWorker, jsonWorker])
interface Policies {
  createPolicy: (name: string, rules: { createScriptURL: (url: string) => string }) => { createScriptURL: (url: string) => unknown }
}
const policy = (globalThis as { trustedTypes?: Policies }).trustedTypes?.createPolicy('holdfast-workers', {
  createScriptURL: (url) => {
    if (!ours.has(url)) throw new TypeError(`no worker of ours: ${url}`)
    return url
  },
})

globalThis.MonacoEnvironment = {
  getWorker: (_module: string, label: string) => {
    const url = label === 'json' ? jsonWorker : editorWorker
    return new Worker((policy?.createScriptURL(url) ?? url) as string, { type: 'module', name: label })
  },
}

export { monaco }

/** languageOf is the language of a file by its name. */
export function languageOf(path: string): string {
  const name = path.split('/').at(-1) ?? path
  if (/\.(tf|tofu|tfvars|hcl)$/.test(name)) return 'hcl'
  if (/\.(json|tfstate)$/.test(name)) return 'json'
  if (/\.ya?ml(\.tftpl)?$/.test(name)) return 'yaml'
  if (/\.(sh|bash)$/.test(name)) return 'shell'
  if (name.endsWith('.md')) return 'markdown'
  return 'plaintext'
}

const read = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** isDark tells which of the page's colours are shown, whether the reader or their system has chosen them. */
export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme
  return chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
}

/** useColours gives Monaco the page's colours. */
export function applyColours(): void {
  const dark = isDark()
  monaco.editor.defineTheme('holdfast', {
    base: dark ? 'vs-dark' : 'vs',
    inherit: true,
    rules: dark ? [] : [{ token: 'comment', foreground: '4b6b4b' }, { token: 'type', foreground: '0b5cad' }],
    colors: dark
      ? { 'editor.background': '#14171a', 'editorGutter.background': '#14171a', 'editorLineNumber.foreground': '#9aa4af', 'editorLineNumber.dimmedForeground': '#9aa4af' }
      : { 'editor.background': '#ffffff', 'editorLineNumber.foreground': '#57606a', 'editorLineNumber.dimmedForeground': '#57606a' },
  })
  monaco.editor.setTheme('holdfast')
}

/** font is the page's monospaced face. */
export function font(): string {
  return read('--mono')
}
