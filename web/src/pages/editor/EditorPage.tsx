import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { format } from '@/api/format'
import { ownerQuery } from '@/api/layers'
import { runQuery, workspaceQuery } from '@/api/runs'
import { useMay } from '@/api/session'
import { signedIn } from '@/api/signedIn'
import type { Diagnostic, Layer } from '@/api/types'
import { drafts } from '@/lib/drafts'
import { count } from '@/lib/size'
import { Button } from '@/ui/Button'
import { Page } from '@/ui/Page'
import { Await, Failed, Skeleton } from '@/ui/states'
import { Time } from '@/ui/Time'
import { Console } from './Console'
import { Desk, type OpenFile } from './desk'
import { DeleteDialog, DropDialog, PathDialog } from './dialogs'
import styles from './Editor.module.css'
import { FileTabs } from './FileTabs'
import { FileTree } from './FileTree'
import { isDraft, Owned } from './Owned'
import { editorRoute } from './route'
import { Splitter, useHeight } from './Splitter'
import { storeOf } from './store'
import { languageToFormat } from './tree'
import { upload, uploadsOf } from './upload'

const CodeEditor = lazy(() => import('./CodeEditor'))
const MergeView = lazy(() => import('./MergeView'))
const none: Diagnostic[] = []

type Asked = { kind: 'new' } | { kind: 'rename' | 'delete' | 'drop'; path: string }

/** EditorPage edits the files of a workspace, and plans and applies them beside that. */
export function EditorPage() {
  const { _splat: workspace = '' } = editorRoute.useParams()
  const { holder } = signedIn
  const owner = useQuery(ownerQuery(workspace))
  return (
    <Await query={owner} what="where the files come from">
      {(layer) => <Editor key={`${holder} ${workspace}`} workspace={workspace} holder={holder} layer={layer} />}
    </Await>
  )
}

function Editor({ workspace, holder, layer }: { workspace: string; holder: string; layer: Layer | null }) {
  const { file: wanted, line: wantedLine, run, closed, draft = false } = editorRoute.useSearch()
  const navigate = useNavigate({ from: editorRoute.fullPath })
  const may = useMay()
  // What comes from a repository is written there; who wants to try something here asks for a draft.
  const mayWrite = may('workspace:write') && (layer === null || draft)
  const newest = useQuery({ ...workspaceQuery(workspace), enabled: layer !== null }).data?.snapshot
  const drafted = layer !== null && (draft || isDraft(newest))
  // Who may write nothing here takes up no draft either, which would be saved.
  const desk = useMemo(() => new Desk(storeOf(workspace, holder), mayWrite ? drafts.of(holder, workspace) : undefined), [workspace, holder, mayWrite])
  const state = useSyncExternalStore(desk.subscribe, desk.current)
  const active = state.open.find(({ path }) => path === state.active)
  const [line, setLine] = useState<{ line: number; at: number }>()
  const [asked, setAsked] = useState<Asked>()
  const [sending, setSending] = useState(0)
  const [height, setHeight] = useHeight('holdfast.console', 240)
  const found = useQuery({ ...runQuery(run ?? ''), enabled: run !== undefined }).data?.diagnostics ?? none

  const task = useMutation({ mutationFn: (work: () => Promise<unknown>) => work() })
  const act = task.mutate
  const goTo = useCallback((path: string, at?: number) => {
    act(async () => {
      await desk.open(path)
      if (at !== undefined) setLine({ line: at, at: Date.now() })
    })
  }, [act, desk])

  useEffect(() => {
    void desk.refresh().then(async () => {
      if (mayWrite) await desk.recover().catch(() => undefined)
      const { files } = desk.current()
      const first = wanted ?? files.find(({ path }) => path === 'main.tf')?.path ?? files.find(({ path }) => path.endsWith('.tf'))?.path
      if (first !== undefined) goTo(first, wantedLine === undefined ? undefined : Number(wantedLine))
    })
    const back = () => void desk.refresh()
    window.addEventListener('focus', back)
    return () => { window.removeEventListener('focus', back) }
    // The address says where one begins; afterwards it follows.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [desk])
  useEffect(() => {
    if (state.active !== undefined && state.active !== wanted) void navigate({ search: (was) => ({ ...was, line: undefined, file: state.active! }), replace: true })
  }, [state.active, wanted, navigate])
  // Who leaves has everything saved; where that takes a moment, the browser asks them to stay.
  useEffect(() => {
    const leave = (event: BeforeUnloadEvent) => {
      if (desk.isClean()) return
      event.preventDefault()
      void desk.saveAll()
    }
    window.addEventListener('beforeunload', leave)
    return () => {
      window.removeEventListener('beforeunload', leave)
      // Of who is not signed in any more the drafts are left, until the same one comes back.
      if (signedIn.holder === holder) void desk.saveAll()
      else desk.stop()
    }
  }, [desk, holder])

  const close = (path: string) => {
    if (state.open.find((file) => file.path === path)?.state === 'conflict') setAsked({ kind: 'drop', path })
    else act(() => desk.close(path))
  }
  const send = (picked: File[]) => {
    act(async () => {
      setSending(picked.length)
      try {
        const files = await uploadsOf(picked)
        await desk.replace((now) => upload(workspace, files, now))
      } finally {
        setSending(0)
      }
    })
  }
  const done = (work: () => Promise<unknown>) => {
    setAsked(undefined)
    act(work)
  }
  return (
    <div className={styles.page}>
      <Page
        title={<Link to="/states/$" params={{ _splat: workspace }} reloadDocument>{workspace}</Link>}
        name={`${workspace}: files`}
        line={active ? <Saved file={active} again={() => { act(() => desk.save(active.path)) }} /> : mayWrite ? 'Its configuration, saved a second after the last key' : 'Its configuration'}
        actions={
          mayWrite && active && !active.binary && languageToFormat(active.path) ? (
            <Button busy={task.isPending} onClick={() => { act(async () => { desk.replaceText(active.path, await format(languageToFormat(active.path)!, active.text)) }) }}>Format</Button>
          ) : null
        }
      >
        {layer ? <Owned layer={layer} newest={newest} draft={draft} onDraft={may('workspace:write') ? (on) => void navigate({ search: (was) => ({ ...was, draft: on ? true : undefined }), replace: true }) : undefined} /> : null}
        {state.error ? <Failed error={state.error} again={() => void desk.refresh()} /> : null}
        {task.error ? <Failed error={task.error} again={() => { task.reset() }} /> : null}
        {sending > 0 ? <p role="status" className="muted">Uploading {count(sending, 'file')}; all of them are there at once, or none…</p> : null}
        {!state.loaded && !state.error ? <Skeleton what="the files" /> : null}
        <div className={styles.desk} hidden={!state.loaded}>
          <FileTree
            closed={closed}
            onClosed={(paths) => void navigate({ search: (was) => ({ ...was, closed: paths.length > 0 ? paths : undefined }), replace: true, resetScroll: false })}
            desk={state}
            mayWrite={mayWrite}
            onOpen={goTo}
            onNew={() => { setAsked({ kind: 'new' }) }}
            onRename={(path) => { setAsked({ kind: 'rename', path }) }}
            onDelete={(path) => { setAsked({ kind: 'delete', path }) }}
            onUpload={(list) => { send([...list]) }}
          />
          <div className={styles.work}>
            <FileTabs open={state.open} active={state.active} onShow={(path) => { desk.activate(path) }} onClose={close} />
            <Suspense fallback={<Skeleton what="the editor" />}>
              {!active ? (
                <p className={`${styles.nothing!} muted`}>Open a file at the left.</p>
              ) : active.state === 'conflict' ? (
                <MergeView key={active.path} file={active} onEdit={(text) => { desk.edit(active.path, text) }} onMine={(text) => { act(() => desk.resolve(active.path, text)) }} onTheirs={() => { desk.takeTheirs(active.path) }} />
              ) : active.binary ? (
                <p className={`${styles.nothing!} muted`}>This file is no text. Upload another one in its place to change it.</p>
              ) : (
                <CodeEditor holder={holder} workspace={workspace} file={active} readOnly={!mayWrite} diagnostics={found} line={line} onEdit={(path, text) => { desk.edit(path, text) }} onSave={() => { act(() => desk.save(active.path)) }} />
              )}
            </Suspense>
            {/* Its question can't take the focus in what is not shown yet. */}
            {may('run:read') && state.loaded ? (
              <>
                <Splitter label="Height of the console" height={height} onChange={setHeight} />
                <div style={{ height }} className={styles.consoleFrame}>
                  <Console workspace={workspace} run={run} onRun={({ id }) => void navigate({ search: (was) => ({ ...was, run: id }), replace: true })} save={() => desk.saveAll()} onPlace={goTo} planOnly={drafted ? `A draft of what comes from ${layer.settings.repository} can be planned only.` : undefined} />
                </div>
              </>
            ) : null}
          </div>
        </div>
      </Page>
      {asked?.kind === 'new' ? <PathDialog title="New file" verb="Create" first="" files={state.files} onClose={() => { setAsked(undefined) }} onDone={(path) => { done(() => desk.create(path)) }} /> : null}
      {asked?.kind === 'rename' ? <PathDialog title={`Rename ${asked.path}`} verb="Rename" first={asked.path} files={state.files} onClose={() => { setAsked(undefined) }} onDone={(path) => { done(() => desk.rename(asked.path, path)) }} /> : null}
      {asked?.kind === 'delete' ? <DeleteDialog path={asked.path} onClose={() => { setAsked(undefined) }} onDone={() => { done(() => desk.remove(asked.path)) }} /> : null}
      {asked?.kind === 'drop' ? <DropDialog path={asked.path} onClose={() => { setAsked(undefined) }} onDone={() => { setAsked(undefined); desk.drop(asked.path) }} /> : null}
    </div>
  )
}

function Saved({ file, again }: { file: OpenFile; again: () => void }) {
  switch (file.state) {
    case 'saved':
      return <span role="status">{file.path} {file.savedAt ? <>saved <Time at={file.savedAt.toISOString()} /></> : 'as it is on the server'}</span>
    case 'edited':
      return <span role="status">{file.path}, not saved yet</span>
    case 'saving':
      return <span role="status">{file.path}, saving…</span>
    case 'conflict':
      return <span role="status">{file.path}, in conflict</span>
    case 'failed':
      return <Failed error={file.error} again={again} />
  }
}
