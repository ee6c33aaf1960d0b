import { useSyncExternalStore } from 'react'

/**
 * Outdated notes that a part of the page could not be loaded: the server is a newer one by now and has other
 * files, or it is away.
 */
export class Outdated {
  private noted = false
  private readonly readers = new Set<() => void>()

  current = () => this.noted

  subscribe = (reader: () => void): (() => void) => {
    this.readers.add(reader)
    return () => this.readers.delete(reader)
  }

  note(): void {
    this.noted = true
    this.readers.forEach((tell) => { tell() })
  }

  /** listen notes what the page's loader says. */
  listen(to: EventTarget): void {
    to.addEventListener('vite:preloadError', () => { this.note() })
  }
}

export const outdated = new Outdated()

/** useOutdated says whether a part of the page could not be loaded. */
export function useOutdated(): boolean {
  return useSyncExternalStore(outdated.subscribe, outdated.current)
}
