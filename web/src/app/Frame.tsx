import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Outlet, useRouter } from '@tanstack/react-router'
import { lazy, Suspense, useContext, useEffect, useRef, useState, type RefObject } from 'react'
import { Live } from '@/api/live'
import { identityQuery, otherQuery } from '@/api/session'
import type { Identity } from '@/api/types'
import { listen, Shortcuts, useShortcuts } from '@/ui/keys'
import { Await } from '@/ui/states'
import { Apart } from './Apart'
import { useGoKeys } from './goKeys'
import styles from './Frame.module.css'
import { LoadAnew, SignedInAsOther } from './LoadAnew'
import { useOutdated } from './outdated'
import { SideBar } from './SideBar'
import { SignInPage } from '@/pages/signin/SignInPage'
import { TopBar } from './TopBar'

const Palette = lazy(() => import('./Palette'))
const KeyHelp = lazy(() => import('./KeyHelp'))

/** Frame is what all pages stand in. Who is not signed in sees the sign-in page at any address. */
export function Frame() {
  const identity = useQuery(identityQuery)
  const other = useQuery(otherQuery).data
  if (other) return <SignedInAsOther />
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
  const outdated = useOutdated()
  const content = useRef<HTMLElement>(null)
  usePlaceOfFocus(content)
  const client = useQueryClient()
  // Another person, or another key, begins anew.
  useEffect(() => new Live(client).start(), [client, who.org_id, who.key_id])
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
      event.stopPropagation()
      setSearching(true)
    }
    // Before what has the focus hears it: the editor would begin a chord.
    window.addEventListener('keydown', heard, true)
    return () => { window.removeEventListener('keydown', heard, true) }
  }, [])
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#content" onClick={(event) => { event.preventDefault(); content.current?.focus() }}>Skip to the page</a>
      <TopBar who={who} onSearch={() => { setSearching(true) }} onList={() => { setListing(!listing) }} onHelp={() => { setHelping(true) }} />
      <SideBar shown={listing} onGo={() => { setListing(false) }} />
      <main ref={content} id="content" className={styles.main} tabIndex={-1}>
        {outdated ? <LoadAnew>A part of this page could not be loaded: the server has probably been upgraded since you opened it.</LoadAnew> : null}
        <Outlet />
      </main>
      <Apart onFailed={() => { setSearching(false); setHelping(false) }}>
        <Suspense>
          {searching ? <Palette onClose={() => { setSearching(false) }} /> : null}
          {helping ? <KeyHelp onClose={() => { setHelping(false) }} /> : null}
        </Suspense>
      </Apart>
    </div>
  )
}

/** usePlaceOfFocus has the focus go to the page that was opened, where what had it went with the page before. */
function usePlaceOfFocus(content: RefObject<HTMLElement | null>): void {
  const router = useRouter()
  useEffect(
    () =>
      router.subscribe('onRendered', ({ pathChanged, fromLocation }) => {
        // Who has just come begins at the top, with the way past the list of pages.
        if (pathChanged && fromLocation && document.activeElement === document.body) content.current?.focus({ preventScroll: true })
      }),
    [router, content],
  )
}
