import { createContext, useContext, useEffect, useRef } from 'react'

/** Shortcut is what a key, or two behind one another such as "g s", does. */
export interface Shortcut {
  keys: string
  does: string
  run: () => void
}

/** ShortcutBook knows the shortcuts of all that is shown; what was added last wins. */
export class ShortcutBook {
  private readonly pages: Shortcut[][] = []
  private first = ''
  private firstAt = 0

  add(shortcuts: Shortcut[]): () => void {
    this.pages.push(shortcuts)
    return () => {
      this.pages.splice(this.pages.indexOf(shortcuts), 1)
    }
  }

  /** all lists what there is now, each key once. */
  all(): Shortcut[] {
    const byKey = new Map(this.pages.flat().map((shortcut) => [shortcut.keys, shortcut]))
    return [...byKey.values()]
  }

  /** press runs what a key stands for, at a time in milliseconds, and tells whether it stood for something. */
  press(key: string, at: number): boolean {
    const pair = this.first !== '' && at - this.firstAt < 1500 ? `${this.first} ${key}` : ''
    this.first = ''
    const found = this.find(pair) ?? this.find(key)
    if (found) {
      found.run()
      return true
    }
    if (this.pages.flat().some(({ keys }) => keys.startsWith(`${key} `))) {
      this.first = key
      this.firstAt = at
      return true
    }
    return false
  }

  private find(keys: string): Shortcut | undefined {
    return this.pages.flat().findLast((shortcut) => shortcut.keys === keys)
  }
}

export const Shortcuts = createContext(new ShortcutBook())

/** useShortcuts offers shortcuts while the component is shown. */
export function useShortcuts(shortcuts: Shortcut[]): void {
  const book = useContext(Shortcuts)
  const latest = useRef(shortcuts)
  useEffect(() => {
    latest.current = shortcuts
  })
  const shape = shortcuts.map(({ keys, does }) => `${keys}\t${does}`).join('\n')
  useEffect(() => {
    if (shape === '') return
    return book.add(
      shape.split('\n').map((line, index) => {
        const [keys = '', does = ''] = line.split('\t')
        return { keys, does, run: () => latest.current[index]?.run() }
      }),
    )
  }, [book, shape])
}

/** isTyping says that a key belongs to what has the focus, such as a field of text or an open dialog. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || target.closest('input, textarea, select, dialog[open], [role="menu"], .monaco-editor') !== null
}

/** listen has the book hear the keys of a window. */
export function listen(book: ShortcutBook, on: Window): () => void {
  const heard = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
    if (book.press(event.key, event.timeStamp)) event.preventDefault()
  }
  on.addEventListener('keydown', heard)
  return () => { on.removeEventListener('keydown', heard) }
}
