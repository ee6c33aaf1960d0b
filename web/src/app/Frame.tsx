import { useQuery } from '@tanstack/react-query'
import { Outlet } from '@tanstack/react-router'
import { lazy, Suspense, useContext, useEffect, useState } from 'react'
import { identityQuery } from '@/api/session'
import type { Identity } from '@/api/types'
import { listen, Shortcuts, useShortcuts } from '@/ui/keys'
import { Await } from '@/ui/states'
import { useGoKeys } from './goKeys'
import styles from './Frame.module.css'
import { SideBar } from './SideBar'
import { SignInPage } from '@/pages/signin/SignInPage'
import { TopBar } from './TopBar'

const Palette = lazy(() => import('./Palette'))
const KeyHelp = lazy(() => import('./KeyHelp'))

/** Frame is what all pages stand in. Who is not signed in sees the sign-in page at any address. */
export function Frame() {
  const identity = useQuery(identityQuery)
  return (
    <Await query={identity} what="who you are">
      {(who) => (who === null ? <SignInPage /> : <SignedIn who={who} />)}
    </Await>
  )
}

function SignedIn({ who }: { who: Identity }) {
  const book = useContext(Shortcuts)
  const [searching, setSearching] = useState(false)
  const [helping, setHelping] = useState(false)
  const [listing, setListing] = useState(false)
  useEffect(() => listen(book, window), [book])
  useGoKeys()
  useShortcuts([
    { keys: '/', does: 'Search everywhere (also Ctrl-K)', run: () => { setSearching(true) } },
    { keys: '?', does: 'Show these keys', run: () => { setHelping(true) } },
  ])
  useEffect(() => {
    const heard = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setSearching(true)
    }
    window.addEventListener('keydown', heard)
    return () => { window.removeEventListener('keydown', heard) }
  }, [])
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#content">Skip to the page</a>
      <TopBar who={who} onSearch={() => { setSearching(true) }} onList={() => { setListing(!listing) }} onHelp={() => { setHelping(true) }} />
      <SideBar shown={listing} onGo={() => { setListing(false) }} />
      <main id="content" className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
      <Suspense>
        {searching ? <Palette onClose={() => { setSearching(false) }} /> : null}
        {helping ? <KeyHelp onClose={() => { setHelping(false) }} /> : null}
      </Suspense>
    </div>
  )
}
