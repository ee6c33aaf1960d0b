import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { signOut } from '@/api/session'
import { nameOf } from '@/api/signedIn'
import type { Identity } from '@/api/types'
import { drafts } from '@/lib/drafts'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
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
      // What was read goes with it: see forgetOthers.
      client.setQueryData(['identity'], null)
      drafts.forget(nameOf(who))
    },
  })
  const [asked, setAsked] = useState(false)
  const unsaved = asked ? drafts.count(nameOf(who)) : 0
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
          { label: 'Sign out', run: () => { if (drafts.count(nameOf(who)) > 0) setAsked(true); else leave.mutate() } },
        ]}
      >
        <span className={styles.who}>{name}</span> ▾
      </Menu>
      {asked ? (
        <Dialog title="Sign out without your changes?" open onClose={() => { setAsked(false) }}>
          <p>
            {unsaved === 1 ? 'A file' : `${String(unsaved)} files`} that you have edited {unsaved === 1 ? 'is' : 'are'} not saved. Who signs out takes what was typed away with them.
          </p>
          <Button kind="loss" busy={leave.isPending} onClick={() => { leave.mutate() }}>Sign out and drop it</Button>{' '}
          <Button kind="quiet" onClick={() => { setAsked(false) }}>Stay</Button>
        </Dialog>
      ) : null}
    </header>
  )
}
