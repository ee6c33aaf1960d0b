import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useSyncExternalStore, useState } from 'react'
import { RequestFailure } from '@/api/failure'
import { runQuery } from '@/api/runs'
import { Follower, type Link } from './follow'
import { LogStore } from './log'

/** useLog follows a run's log; of no run it is empty. At most limit lines are kept. The browser comes back by itself after a lost connection, to where it was. */
export function useLog(run: string | undefined, stream: 'plan' | 'apply', limit?: number): { log: LogStore; link: Link } {
  const client = useQueryClient()
  const key = `${run ?? ''} ${stream}`
  const log = useMemo(() => new LogStore(limit), [key, limit]) // eslint-disable-line react-hooks/exhaustive-deps
  const [link, setLink] = useState<Link>('open')
  useSyncExternalStore(log.subscribe, () => log.version)
  useEffect(() => {
    if (run === undefined) return
    return new Follower(`/api/v1/runs/${run}/log/stream?stream=${stream}`, {
      link: setLink,
      add: (attempt, offset, bytes) => { log.add(attempt, offset, bytes) },
      changed: () => void client.invalidateQueries({ queryKey: ['run', run] }),
      gone: async () => {
        try {
          await client.fetchQuery({ ...runQuery(run), staleTime: 0, retry: false })
          return false
        } catch (error) {
          return error instanceof RequestFailure && (error.status === 401 || error.status === 404)
        }
      },
    }).start()
  }, [client, log, run, stream])
  return { log, link }
}
