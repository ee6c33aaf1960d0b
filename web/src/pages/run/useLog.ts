import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useSyncExternalStore, useState } from 'react'
import type { LogBytes } from '@/api/types'
import { bytesOf, LogStore } from './log'

export type Link = 'open' | 'lost' | 'ended'

/** useLog follows a run's log. The browser comes back by itself after a lost connection, to where it was. */
export function useLog(run: string, stream: 'plan' | 'apply'): { log: LogStore; link: Link } {
  const client = useQueryClient()
  const key = `${run} ${stream}`
  const log = useMemo(() => new LogStore(), [key]) // eslint-disable-line react-hooks/exhaustive-deps
  const [link, setLink] = useState<Link>('open')
  useSyncExternalStore(log.subscribe, () => log.version)
  useEffect(() => {
    const source = new EventSource(`/api/v1/runs/${run}/log/stream?stream=${stream}`)
    source.onopen = () => { setLink('open') }
    source.onerror = () => { setLink('lost') }
    source.addEventListener('log', (event) => {
      const { attempt, offset, bytes } = JSON.parse((event as MessageEvent<string>).data) as LogBytes
      log.add(attempt, offset, bytesOf(bytes))
    })
    source.addEventListener('status', () => void client.invalidateQueries({ queryKey: ['run', run] }))
    source.addEventListener('end', () => {
      source.close()
      setLink('ended')
      void client.invalidateQueries({ queryKey: ['run', run] })
    })
    return () => { source.close() }
  }, [client, log, run, stream])
  return { log, link }
}
