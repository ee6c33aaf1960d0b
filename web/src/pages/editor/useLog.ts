import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { LogBytes } from '@/api/types'
import { Lines } from './lines'

const nothing: string[] = []

/** useLog is the lines of a run's log as they come. The browser comes back by itself to where it was. */
export function useLog(run: string | undefined, stream: 'plan' | 'apply'): string[] {
  const client = useQueryClient()
  const of = `${run ?? ''} ${stream}`
  const [log, setLog] = useState<{ of: string; lines: string[] }>({ of, lines: [] })
  useEffect(() => {
    if (run === undefined) return
    const kept = new Lines()
    const decoder = new TextDecoder()
    let attempt = 0
    const source = new EventSource(`/api/v1/runs/${run}/log/stream?stream=${stream}`)
    source.addEventListener('log', (event) => {
      const piece = JSON.parse((event as MessageEvent<string>).data) as LogBytes
      if (piece.attempt !== attempt) {
        attempt = piece.attempt
        kept.clear()
      }
      const bytes = Uint8Array.from(atob(piece.bytes), (sign) => sign.charCodeAt(0))
      setLog({ of, lines: kept.add(decoder.decode(bytes, { stream: true })) })
    })
    source.addEventListener('status', () => void client.invalidateQueries({ queryKey: ['run', run] }))
    source.addEventListener('end', () => {
      source.close()
      void client.invalidateQueries({ queryKey: ['run', run] })
    })
    return () => { source.close() }
  }, [run, stream, client, of])
  return log.of === of ? log.lines : nothing
}
