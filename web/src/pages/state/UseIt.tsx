import { useQuery } from '@tanstack/react-query'
import { identityQuery } from '@/api/session'
import { Button } from '@/ui/Button'
import { useCopy } from '@/ui/useCopy'
import styles from './StatePage.module.css'

/** backendBlock is what a configuration needs to have its state here. */
export function backendBlock(origin: string, org: string, name: string): string {
  const address = `${origin}/api/v1/state/${name.split('/').map(encodeURIComponent).join('/')}`
  return `terraform {
  backend "http" {
    address        = "${address}"
    lock_address   = "${address}"
    unlock_address = "${address}"
    username       = "${org}"
  }
}
`
}

/** UseIt is the backend block to copy, and what to do with it. */
export function UseIt({ name }: { name: string }) {
  const { data: who } = useQuery(identityQuery)
  const { said, copy } = useCopy()
  const block = backendBlock(window.location.origin, who?.org_id ?? '', name)
  return (
    <>
      <p className={styles.note}>
        Put this into a configuration, then <code>export TF_HTTP_PASSWORD=…</code> with a key, and <code>tofu init</code>. The key is in no file.
      </p>
      <pre className={styles.code}>{block}</pre>
      <p className={styles.note}>
        <Button onClick={() => void copy(block)}>Copy the block</Button> <span role="status">{said}</span>
      </p>
    </>
  )
}
