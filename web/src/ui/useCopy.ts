import { useState } from 'react'

/** useCopy copies a text, and says for two seconds whether it did: browsers refuse it to a page without TLS. */
export function useCopy(): { said: string; copy: (text: string) => Promise<void> } {
  const [said, setSaid] = useState('')
  const copy = async (text: string) => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      setSaid('Not copied')
    }
    setTimeout(() => { setSaid('') }, 2000)
  }
  return { said, copy }
}
