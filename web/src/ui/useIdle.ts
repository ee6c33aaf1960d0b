import { useEffect, useState } from 'react'

/** useIdle is true once the page has been drawn and the browser has time for what the page can be used without. */
export function useIdle(): boolean {
  const [idle, setIdle] = useState(false)
  useEffect(() => {
    const ask = window.requestIdleCallback as typeof window.requestIdleCallback | undefined
    if (!ask) {
      const timer = setTimeout(() => { setIdle(true) }, 200)
      return () => { clearTimeout(timer) }
    }
    const asked = ask(() => { setIdle(true) }, { timeout: 1000 })
    return () => { cancelIdleCallback(asked) }
  }, [])
  return idle
}
