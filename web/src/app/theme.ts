export type Theme = 'system' | 'light' | 'dark'

const place = 'holdfast.theme'

/** chosenTheme is what this reader has chosen in this browser; their system's without a choice. */
export function chosenTheme(): Theme {
  try {
    const chosen = localStorage.getItem(place)
    return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
  } catch {
    return 'system'
  }
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') document.documentElement.removeAttribute('data-theme')
  else document.documentElement.dataset.theme = theme
}

export function chooseTheme(theme: Theme): void {
  applyTheme(theme)
  try {
    localStorage.setItem(place, theme)
  } catch {
    // A browser that keeps nothing has the choice until the page is closed.
  }
}
