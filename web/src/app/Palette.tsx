import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type KeyboardEvent } from 'react'
import { recentRunsQuery, workspacesQuery } from '@/api/runs'
import { useMay } from '@/api/session'
import { statesQuery } from '@/api/states'
import { Dialog } from '@/ui/Dialog'
import { usePlaces } from './goKeys'
import styles from './Palette.module.css'
import { rank, type Found } from './rank'

/** Palette finds pages, states and runs by some of the letters of their names. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [words, setWords] = useState('')
  const [at, setAt] = useState(0)
  const found = rank(useFindable(), words).slice(0, 12)
  const chosen = Math.min(at, Math.max(found.length - 1, 0))

  const open = (item: Found | undefined) => {
    if (!item) return
    onClose()
    void navigate({ to: item.href })
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter') open(found[chosen])
    else if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, found.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0))
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Search" open onClose={onClose}>
      <input
        // Who opens a search wants to write.
        // eslint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        type="search"
        role="combobox"
        aria-label="Pages, states and runs"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found.length > 0 ? `found-${String(chosen)}` : undefined}
        className={styles.input}
        placeholder="A state, a run, a page…"
        value={words}
        onChange={(event) => {
          setWords(event.target.value)
          setAt(0)
        }}
        onKeyDown={press}
      />
      <div id="found" role="listbox" aria-label="What was found" className={styles.found}>
        {found.map((item, index) => (
          // The field above has the keys of the list.
          // eslint-disable-next-line jsx-a11y/click-events-have-key-events
          <div tabIndex={-1} key={item.href} id={`found-${String(index)}`} role="option" aria-selected={index === chosen} className={styles.item} onClick={() => { open(item) }}>
            <span>{item.label}</span>
            <span className="muted">{item.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 ? <p className="muted">Nothing here has these letters.</p> : null}
    </Dialog>
  )
}

function useFindable(): Found[] {
  const may = useMay()
  const places = usePlaces()
  const states = useQuery({ ...statesQuery, enabled: may('state:metadata') }).data ?? []
  const workspaces = useQuery({ ...workspacesQuery, enabled: may('workspace:read'), retry: false }).data ?? []
  const names = new Set([...states.map(({ name }) => name), ...workspaces.map(({ name }) => name)])
  const { data: runs } = useQuery({ ...recentRunsQuery, enabled: may('run:read') })
  return [
    ...places.map(({ to, label }) => ({ label, kind: 'page', href: String(to) })),
    ...[...names].map((name) => ({ label: name, kind: 'state', href: `/states/${name}` })),
    ...(runs ?? []).map((run) => ({ label: `${run.workspace} ${run.kind} ${run.id}`, kind: 'run', href: `/runs/${run.id}` })),
  ]
}
