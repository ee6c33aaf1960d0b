import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useEffect, useState, type KeyboardEvent } from 'react'
import { recentRunsQuery, workspacesQuery } from '@/api/runs'
import { useMay } from '@/api/session'
import { namedQuery } from '@/api/states'
import { Dialog } from '@/ui/Dialog'
import { usePlaces } from './goKeys'
import styles from './Palette.module.css'
import { rank, type Found } from './rank'

/** Palette finds pages, states and runs by some of the letters of their names. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [words, setWords] = useState('')
  const [at, setAt] = useState(0)
  const { all, reading } = useFindable(words)
  const may = useMay()
  const found = [...rank(all, words).slice(0, 12), ...(may('state:read') ? elsewhere(words) : [])]
  // Enter counts for what is found in the end, however soon it is pressed.
  const [entered, setEntered] = useState(false)
  const chosen = Math.min(at, Math.max(found.length - 1, 0))

  const open = (item: Found | undefined) => {
    if (!item) return
    onClose()
    void navigate({ to: item.href, search: item.search ?? {} })
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && reading) setEntered(true)
    else if (event.key === 'Enter') open(found[chosen])
    else if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, found.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0))
    else return
    event.preventDefault()
  }
  useEffect(() => {
    if (entered && !reading) open(found[chosen])
    // Once, when all is there.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [entered, reading])
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
          setEntered(false)
        }}
        onKeyDown={press}
      />
      <div id="found" role="listbox" aria-label="What was found" className={styles.found}>
        {found.map((item, index) => (
          // The field above has the keys of the list.
          // eslint-disable-next-line jsx-a11y/click-events-have-key-events
          <div tabIndex={-1} key={`${item.kind} ${item.href}`} id={`found-${String(index)}`} role="option" aria-selected={index === chosen} className={styles.item} onClick={() => { open(item) }}>
            <span>{item.label}</span>
            <span className="muted">{item.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && words !== '' ? <p className="muted">Nothing here has these letters.</p> : null}
    </Dialog>
  )
}

/** elsewhere is where words are looked for that are no name here. */
function elsewhere(words: string): Found[] {
  const q = words.trim()
  return q === '' ? [] : [{ label: `Resources with “${q}”`, kind: 'search', href: '/resources', search: { q } }]
}

/** useFindable is what there is to be found. Of states, which may be very many, the server looks for those that have the longest word. */
function useFindable(words: string): { all: Found[]; reading: boolean } {
  const may = useMay()
  const places = usePlaces()
  const longest = words.toLowerCase().split(/\s+/).reduce((best, word) => (word.length > best.length ? word : best), '')
  const sought = useDeferredValue(longest)
  const named = useQuery({ ...namedQuery(sought), enabled: may('state:metadata') })
  const states = named.data ?? []
  const workspaces = useQuery({ ...workspacesQuery, enabled: may('workspace:read'), retry: false }).data ?? []
  const names = new Set([...states.map(({ name }) => name), ...workspaces.map(({ name }) => name)])
  const { data: runs } = useQuery({ ...recentRunsQuery, enabled: may('run:read') })
  const all = [
    ...places.map(({ to, label }) => ({ label, kind: 'page', href: String(to) })),
    ...[...names].map((name) => ({ label: name, kind: 'state', href: `/states/${name}` })),
    ...workspaces.map(({ name }) => ({ label: `${name} files`, kind: 'files', href: `/editor/${name}` })),
    ...(runs ?? []).map((run) => ({ label: `${run.workspace} ${run.kind} ${run.id}`, kind: 'run', href: `/runs/${run.id}` })),
  ]
  return { all, reading: sought !== longest || named.isFetching }
}
