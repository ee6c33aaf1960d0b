import { useSyncExternalStore } from 'react'

const system = () => matchMedia('(prefers-color-scheme: dark)')

function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme
  return chosen === 'dark' || (chosen !== 'light' && system().matches)
}

function subscribe(reader: () => void): () => void {
  const themes = new MutationObserver(reader)
  themes.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  const darkness = system()
  darkness.addEventListener('change', reader)
  return () => {
    themes.disconnect()
    darkness.removeEventListener('change', reader)
  }
}

/** useDark tells which of the page's colours are shown, whether the reader or their system has chosen them. */
export function useDark(): boolean {
  return useSyncExternalStore(subscribe, isDark)
}
