import { useVirtualizer } from '@tanstack/react-virtual'
import { useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { address } from '@/api/call'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { coloured } from './ansi'
import styles from './RunPage.module.css'
import { runRoute } from './route'
import { useLog } from './useLog'

const lineHeight = 20

/** LogView shows a log as it comes. Only the lines in sight are drawn; a line's number is a link to it. */
export function LogView({ run, stream, onStream, streams }: { run: string; stream: 'plan' | 'apply'; streams: ('plan' | 'apply')[]; onStream: (stream: 'plan' | 'apply') => void }) {
  const { log, link } = useLog(run, stream)
  const { line: pointed } = runRoute.useSearch()
  const navigate = useNavigate({ from: runRoute.fullPath })
  const frame = useRef<HTMLDivElement>(null)
  const [following, setFollowing] = useState(pointed === undefined)
  const [words, setWords] = useState('')
  const sought = useDeferredValue(words.toLowerCase())
  const [hit, setHit] = useState(0)
  const { length } = log.lines
  const hits = useMemo(() => (sought === '' ? [] : log.lines.flatMap((line, index) => (line.toLowerCase().includes(sought) ? [index] : []))), [log, sought, length]) // eslint-disable-line react-hooks/exhaustive-deps
  const marked = useMemo(() => new Set(hits), [hits])
  const virtual = useVirtualizer({ count: length, getScrollElement: () => frame.current, estimateSize: () => lineHeight, overscan: 30 })

  useLayoutEffect(() => {
    if (following && length > 0) virtual.scrollToIndex(length - 1)
  }, [following, length, virtual])
  const reached = pointed !== undefined && length > pointed - 1 - log.dropped
  useEffect(() => {
    if (reached && !following) virtual.scrollToIndex(pointed - 1 - log.dropped, { align: 'center' })
    // Only when the line is reached: more lines don't move the reader.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [reached, pointed])

  const seek = (by: number) => {
    if (hits.length === 0) return
    const next = (hit + by + hits.length) % hits.length
    setHit(next)
    setFollowing(false)
    virtual.scrollToIndex(hits[next]!, { align: 'center' })
  }
  return (
    <>
      <div className={styles.logBar}>
        {streams.map((one) => (
          <Button key={one} kind={one === stream ? 'plain' : 'quiet'} aria-pressed={one === stream} onClick={() => { onStream(one) }}>
            {one}
          </Button>
        ))}
        <input
          type="search"
          aria-label="Search the log"
          placeholder="Search the log"
          className={styles.search}
          value={words}
          onChange={(event) => {
            setWords(event.target.value)
            setHit(0)
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') seek(event.shiftKey ? -1 : 1)
          }}
        />
        <span className="muted" role="status">
          {words === '' ? '' : hits.length === 0 ? 'not found' : `${String(hit + 1)} of ${hits.length.toLocaleString()}`}
        </span>
        <span className={styles.push} />
        {link === 'lost' ? <Badge tone="person">connection lost, trying again</Badge> : link === 'open' ? <Badge tone="going">live</Badge> : null}
        <Button aria-pressed={following} onClick={() => { setFollowing(!following) }}>{following ? 'Following' : 'Follow'}</Button>
        <a href={address(`/api/v1/runs/${run}/log`, { stream, download: true, ansi: 'strip' })} download>
          Download
        </a>
      </div>
      {log.dropped > 0 ? <p className="muted">{log.dropped.toLocaleString()} lines at the beginning are not shown any more; the download has all.</p> : null}
      <div
        ref={frame}
        className={styles.log}
        role="region"
        aria-label={`Log of the ${stream}`}
        // What scrolls must be reached by keys.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        onWheel={(event) => {
          if (event.deltaY < 0) setFollowing(false)
        }}
      >
        {length === 0 ? <p className="muted">{link === 'ended' ? 'Nothing was printed.' : 'Nothing was printed yet.'}</p> : null}
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const number = index + 1 + log.dropped
            const names = [styles.line, number === pointed && styles.pointed, marked.has(index) && styles.hit].filter(Boolean).join(' ')
            return (
              <div key={index} className={names} style={{ transform: `translateY(${String(start)}px)` }}>
                <button
                  type="button"
                  className={styles.number}
                  tabIndex={-1}
                  aria-label={`Line ${String(number)}`}
                  onClick={() => {
                    setFollowing(false)
                    void navigate({ search: (was) => ({ ...was, line: number }), replace: true, resetScroll: false })
                  }}
                >
                  {number}
                </button>
                <span>{coloured(log.lines[index]!)}</span>
              </div>
            )
          })}
        </div>
      </div>
    </>
  )
}
