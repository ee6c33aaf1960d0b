import { useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { Badge } from '@/ui/Badge'
import { Button } from '@/ui/Button'
import { coloured, plain } from './ansi'
import styles from './RunPage.module.css'
import { runRoute } from './route'
import { LogLines, type Shower } from '@/log/LogLines'
import { useLog } from '@/log/useLog'

/** LogView shows a log as it comes. Only the lines in sight are drawn; a line's number is a link to it. */
export function LogView({ run, stream, onStream, streams }: { run: string; stream: 'plan' | 'apply'; streams: ('plan' | 'apply')[]; onStream: (stream: 'plan' | 'apply') => void }) {
  const { log, link } = useLog(run, stream)
  const { line: pointed } = runRoute.useSearch()
  const navigate = useNavigate({ from: runRoute.fullPath })
  const lines = useRef<Shower>(null)
  const [following, setFollowing] = useState(pointed === undefined)
  const [words, setWords] = useState('')
  const sought = useDeferredValue(words.toLowerCase())
  // The hit that was gone to; none yet for -1.
  const [hit, setHit] = useState(-1)
  const { length } = log.lines
  const hits = useMemo(() => (sought === '' ? [] : log.lines.flatMap((line, index) => (plain(line).toLowerCase().includes(sought) ? [index] : []))), [log, sought, length]) // eslint-disable-line react-hooks/exhaustive-deps
  const marked = useMemo(() => new Set(hits), [hits])

  const reached = pointed !== undefined && length > pointed - 1 - log.dropped
  useEffect(() => {
    if (reached && !following) lines.current?.show(pointed - 1 - log.dropped)
    // Only when the line is reached: more lines don't move the reader.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [reached, pointed])

  // The address is that of the line: whoever gets it sees the same one.
  const point = (line: number) => {
    setFollowing(false)
    void navigate({ search: (was) => ({ ...was, tab: 'log', stream, line }), replace: true, resetScroll: false })
  }
  const seek = (by: number) => {
    if (hits.length === 0) return
    const next = hit < 0 ? (by > 0 ? 0 : hits.length - 1) : (hit + by + hits.length) % hits.length
    setHit(next)
    lines.current?.show(hits[next]!)
    point(hits[next]! + 1 + log.dropped)
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
            setHit(-1)
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') seek(event.shiftKey ? -1 : 1)
          }}
        />
        <span className="muted" role="status">
          {words === '' ? '' : hits.length === 0 ? 'not found' : `${String(Math.max(hit, 0) + 1)} of ${hits.length.toLocaleString()}`}
        </span>
        <span className={styles.push} />
        {link === 'lost' ? <Badge tone="person">connection lost, trying again</Badge> : link === 'open' ? <Badge tone="going">live</Badge> : null}
        <Button aria-pressed={following} onClick={() => { setFollowing(!following) }}>{following ? 'Following' : 'Follow'}</Button>
        <a href={`/api/v1/runs/${run}/log?stream=${stream}&download=true&ansi=strip`} download>
          Download
        </a>
      </div>
      {log.dropped > 0 ? <p className="muted">{log.dropped.toLocaleString()} lines at the beginning are not shown any more; the download has all.</p> : null}
      <LogLines
        ref={lines}
        log={log}
        label={`Log of the ${stream}`}
        role="region"
        className={styles.log}
        following={following}
        onFollowing={setFollowing}
        empty={link === 'ended' ? 'Nothing was printed.' : 'Nothing was printed yet.'}
        lineClass={(index) => [index + 1 + log.dropped === pointed && styles.pointed, marked.has(index) && styles.hit].filter(Boolean).join(' ')}
        line={(index) => <Numbered number={index + 1 + log.dropped} onPoint={point}>{coloured(log.lines[index]!)}</Numbered>}
      />
    </>
  )
}

function Numbered({ number, onPoint, children }: { number: number; onPoint: (line: number) => void; children: ReactNode }) {
  return (
    <>
      <button type="button" className={styles.number} tabIndex={-1} aria-label={`Line ${String(number)}`} onClick={() => { onPoint(number) }}>
        {number}
      </button>
      <span>{children}</span>
    </>
  )
}
