import { act, render, screen } from '@testing-library/react'
import { lazy, Suspense, useState } from 'react'
import { expect, test, vi } from 'vitest'
import { Apart } from './Apart'
import { Outdated } from './outdated'

test('a part that can no longer be loaded leaves what is around it', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const Gone = lazy(() => Promise.reject(new TypeError('Failed to fetch dynamically imported module')))
  function Around() {
    const [shown, setShown] = useState(true)
    return (
      <>
        <p>what is around it</p>
        <Apart onFailed={() => { setShown(false) }}>
          <Suspense>{shown ? <Gone /> : null}</Suspense>
        </Apart>
      </>
    )
  }
  await act(async () => { render(<Around />); await Promise.resolve() })
  expect(screen.getByText('what is around it')).toBeTruthy()
})

test('what the loader says is noted, and told', () => {
  const outdated = new Outdated()
  const loader = new EventTarget()
  const told = vi.fn()
  outdated.subscribe(told)
  outdated.listen(loader)
  expect(outdated.current()).toBe(false)
  loader.dispatchEvent(new Event('vite:preloadError'))
  expect(outdated.current()).toBe(true)
  expect(told).toHaveBeenCalledOnce()
})
