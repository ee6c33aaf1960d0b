import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { repositoriesQuery } from '@/api/layers'
import { useMay } from '@/api/session'
import type { Layer, Snapshot } from '@/api/types'
import { commitOf } from '@/pages/layer/chain'
import { Button } from '@/ui/Button'
import styles from './Editor.module.css'
import { sourceOf } from './source'

/** isDraft tells whether a configuration is one that an editor has saved. */
export function isDraft(newest: Snapshot | undefined): boolean {
  return newest?.message?.startsWith('a draft:') ?? false
}

interface Props {
  layer: Layer
  newest: Snapshot | undefined
  /** That a draft is edited. */
  draft: boolean
  /** Begins a draft or leaves it; undefined for who may not. */
  onDraft: ((on: boolean) => void) | undefined
}

/** Owned says that files come from a repository, where they are written, and what a draft of them is good for. */
export function Owned({ layer: { name, settings, relevant_commit: relevant }, newest, draft, onDraft }: Props) {
  const may = useMay()
  const repositories = useQuery({ ...repositoriesQuery, enabled: may('repository:read') }).data
  const commit = commitOf(newest?.message)?.commit ?? relevant
  const source = repositories && commit ? sourceOf(repositories.find((one) => one.name === settings.repository), commit, settings.path) : undefined
  return (
    <div className={styles.owned} role="note">
      <p>
        {draft || isDraft(newest) ? 'A draft of what comes from ' : 'From '}
        <Link to="/layers/$" params={{ _splat: name }} reloadDocument>{settings.repository}</Link>, <code>{settings.path}</code>
        {commit ? <> at <code title={commit}>{commit.slice(0, 7)}</code></> : null}
        {source ? <>: <a href={source} target="_blank" rel="noreferrer">open there</a></> : null}.{' '}
        {draft || isDraft(newest) ? 'It can be planned only, and the next commit takes its place.' : 'It is written there, and read-only here.'}
      </p>
      {onDraft ? <Button kind="quiet" onClick={() => { onDraft(!draft) }}>{draft ? 'Stop editing' : 'Edit a draft'}</Button> : null}
    </div>
  )
}
