import { useSyncExternalStore } from 'react'
import { ago, exact } from '@/lib/time'

let now = new Date()
const readers = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(reader: () => void): () => void {
  readers.add(reader)
  timer ??= setInterval(() => {
    now = new Date()
    readers.forEach((tell) => { tell() })
  }, 10_000)
  return () => {
    readers.delete(reader)
    if (readers.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
  }
}

/** useNow is the time, to ten seconds. All readers share one clock. */
export function useNow(): Date {
  return useSyncExternalStore(subscribe, () => now)
}

/** Time shows when something was, relative to now; the exact time is in its title, which is made when somebody points there: to write out hundreds of them takes long. */
export function Time({ at }: { at: string | undefined | null }) {
  const clock = useNow()
  if (!at) return <span className="muted">never</span>
  const date = new Date(at)
  const latest = date > clock && date.getTime() - clock.getTime() < 15_000 ? date : clock
  return (
    <time dateTime={at} onPointerEnter={({ currentTarget }) => { currentTarget.title = exact(date) }}>
      {ago(date, latest)}
    </time>
  )
}
