import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { signOut } from '@/api/session'
import type { Identity } from '@/api/types'
import { Menu } from '@/ui/Menu'
import styles from './Frame.module.css'
import { chosenTheme, chooseTheme, type Theme } from './theme'

interface Props {
  who: Identity
  onSearch: () => void
  onList: () => void
  onHelp: () => void
}

const themes: [Theme, string][] = [
  ['system', 'Colours of the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

/** TopBar says where one is and who one is, and searches. */
export function TopBar({ who, onSearch, onList, onHelp }: Props) {
  const client = useQueryClient()
  const [theme, setTheme] = useState(chosenTheme)
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: () => {
      client.clear()
      client.setQueryData(['identity'], null)
    },
  })
  const name = who.subject || who.key_name || who.key_id
  return (
    <header className={styles.top}>
      <button type="button" className={styles.list} onClick={onList} aria-label="Pages">☰</button>
      <Link to="/" className={styles.brand}>Holdfast</Link>
      <span className={styles.org} title={who.org_id}>{who.org_name || who.org_id}</span>
      <button type="button" className={styles.search} onClick={onSearch}>
        <span>Search</span>
        <kbd>/</kbd>
      </button>
      <Menu
        label={`${name}: account and appearance`}
        heading={
          <>
            {name}
            <br />
            {who.role || 'run'} of {who.org_name || who.org_id}
          </>
        }
        items={[
          ...themes.map(([id, label]) => ({
            label,
            chosen: theme === id,
            run: () => {
              chooseTheme(id)
              setTheme(id)
            },
          })),
          { label: 'Keys of this page', run: onHelp },
          { label: 'Sign out', run: () => { leave.mutate() } },
        ]}
      >
        <span className={styles.who}>{name}</span> ▾
      </Menu>
    </header>
  )
}
