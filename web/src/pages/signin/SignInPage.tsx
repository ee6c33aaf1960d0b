import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, type SyntheticEvent } from 'react'
import { identityQuery, signIn, waysQuery } from '@/api/session'
import { Button } from '@/ui/Button'
import { Field } from '@/ui/Field'
import { addressAfter, refusedBy } from './after'
import { Failed } from '@/ui/states'
import styles from './SignInPage.module.css'

/** SignInPage asks for a key. The key goes to the server once, and is kept nowhere in the browser. */
export function SignInPage() {
  const client = useQueryClient()
  const [key, setKey] = useState('')
  const [org, setOrg] = useState('')
  useEffect(() => {
    document.title = 'Sign in · Holdfast'
  }, [])
  const issuer = useQuery(waysQuery).data?.issuer
  const enter = useMutation({
    mutationFn: () => signIn(org.trim() === '' ? { key: key.trim() } : { key: key.trim(), org: org.trim() }),
    onSuccess: () => {
      setKey('')
      return client.refetchQueries(identityQuery)
    },
  })
  const { pathname, search } = window.location
  const refused = enter.error ?? refusedBy(search)
  const to = addressAfter(pathname, search)
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    enter.mutate()
  }
  return (
    <main className={styles.page}>
      <form className={styles.form} onSubmit={submit}>
        <h1>Holdfast</h1>
        <p className="muted">Sign in with a key of your organization.</p>
        <Field
          label="Key"
          type="password"
          autoComplete="current-password"
          required
          value={key}
          onChange={(event) => { setKey(event.target.value) }}
          help={
            <>
              <code>holdfast key add</code> makes one.
            </>
          }
        />
        <Field
          label="Organization"
          autoComplete="username"
          value={org}
          onChange={(event) => { setOrg(event.target.value) }}
          help="Its UUID; only for a key that was not made by holdfast."
        />
        {refused ? <Failed error={refused} /> : null}
        <Button kind="main" type="submit" busy={enter.isPending}>
          Sign in
        </Button>
        {issuer ? <a href={`${issuer.start}?to=${encodeURIComponent(to)}`}>Sign in with {issuer.name}</a> : null}
      </form>
    </main>
  )
}
