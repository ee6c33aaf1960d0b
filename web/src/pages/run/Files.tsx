import 'react-diff-view/style/index.css'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Diff, Hunk } from 'react-diff-view'
import { filesDiffQuery, lastAppliedQuery } from '@/api/runs'
import type { Run } from '@/api/types'
import { count } from '@/lib/size'
import { parseUnified, zipped, type FileDiff } from '@/lib/unified'
import { Badge, type Tone } from '@/ui/Badge'
import { Choice } from '@/ui/Field'
import { Await, Empty } from '@/ui/states'
import { runRoute } from './route'
import styles from './RunPage.module.css'

/** Files is how the run's files differ from those of the run before it that was applied. */
export default function Files({ run }: { run: Run }) {
  const last = useQuery(lastAppliedQuery(run))
  return <Await query={last} what="what was applied last">{(applied) => <Against run={run} applied={applied} />}</Await>
}

function Against({ run, applied }: { run: Run; applied: Run | null }) {
  const same = applied?.snapshot === run.snapshot
  const diff = useQuery({ ...filesDiffQuery(run.workspace, run.snapshot, applied?.snapshot), enabled: !same })
  const { view = 'split' } = runRoute.useSearch()
  const navigate = useNavigate({ from: runRoute.fullPath })
  const against = applied ? (
    <>
      compared with <Link to="/runs/$id" params={{ id: applied.id }}>run …{applied.id.slice(-8)}</Link>, which was applied last
    </>
  ) : (
    <>no run before this one was applied: compared with the configuration before it</>
  )
  if (same) return <Empty title="The files are those that were applied last.">This run was {against}.</Empty>
  return (
    <Await query={diff} what="the differences of the files">
      {(text) => {
        const files = parseUnified(text)
        return (
          <>
            <div className={styles.logBar}>
              <span>{count(files.length, 'file')}, <span className="muted">{against}</span></span>
              <span className={styles.push} />
              <Choice label="View" value={view} onChange={({ target }) => void navigate({ search: { tab: 'files', view: target.value as typeof view }, replace: true, resetScroll: false })}>
                <option value="split">side by side</option>
                <option value="unified">one below the other</option>
              </Choice>
            </div>
            {files.length === 0 ? <Empty title="No file differs." /> : files.map((file) => <File key={file.path} file={file} view={view} open={files.length <= 20} />)}
          </>
        )
      }}
    </Await>
  )
}

const tones: Record<FileDiff['how'], Tone> = { added: 'done', removed: 'loss', modified: 'person' }
const types = { added: 'add', removed: 'delete', modified: 'modify' } as const

function File({ file: { path, how, hunks, note }, view, open }: { file: FileDiff; view: 'split' | 'unified'; open: boolean }) {
  return (
    <details className={styles.file} open={open}>
      <summary>
        <code>{path}</code> <Badge tone={tones[how]}>{how}</Badge> {note === '' ? null : <span className="muted">{note}</span>}
      </summary>
      {hunks.length > 0 ? (
        <div
          className={styles.fileLines}
          role="region"
          aria-label={`Lines of ${path}`}
          // What scrolls must be reached by keys.
          // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
        >
          <Diff viewType={how === 'modified' ? view : 'unified'} diffType={types[how]} hunks={view === 'split' ? hunks.map(zipped) : hunks}>
            {(all) => all.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
          </Diff>
        </div>
      ) : null}
    </details>
  )
}
