import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { format } from '@/api/format'
import { runQuery } from '@/api/runs'
import { useMay } from '@/api/session'
import type { Diagnostic } from '@/api/types'
import { Button } from '@/ui/Button'
import { Page } from '@/ui/Page'
import { Failed, Skeleton } from '@/ui/states'
import { Time } from '@/ui/Time'
import { Console } from './Console'
import { Desk, type OpenFile } from './desk'
import { DeleteDialog, PathDialog } from './dialogs'
import styles from './Editor.module.css'
import { FileTabs } from './FileTabs'
import { FileTree } from './FileTree'
import { editorRoute } from './route'
import { Splitter, useHeight } from './Splitter'
import { storeOf } from './store'
import { languageToFormat } from './tree'
import { upload, uploadsOf } from './upload'

const CodeEditor = lazy(() => import('./CodeEditor'))
const MergeView = lazy(() => import('./MergeView'))
const none: Diagnostic[] = []

type Asked = { kind: 'new' } | { kind: 'rename' | 'delete'; path: string }

/** EditorPage edits the files of a workspace, and plans and applies them beside that. */
export function EditorPage() {
  const { _splat: workspace = '' } = editorRoute.useParams()
  return <Editor key={workspace} workspace={workspace} />
}

function Editor({ workspace }: { workspace: string }) {
  const { file: wanted, line: wantedLine } = editorRoute.useSearch()
  const navigate = useNavigate({ from: editorRoute.fullPath })
  const may = useMay()
  const mayWrite = may('workspace:write')
  const desk = useMemo(() => new Desk(storeOf(workspace)), [workspace])
  const state = useSyncExternalStore(desk.subscribe, desk.current)
  const active = state.open.find(({ path }) => path === state.active)
  const [run, setRun] = useState<string>()
  const [line, setLine] = useState<{ line: number; at: number }>()
  const [asked, setAsked] = useState<Asked>()
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
    void desk.refresh().then(() => {
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
    if (state.active !== undefined && state.active !== wanted) void navigate({ search: { file: state.active }, replace: true })
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
      void desk.saveAll()
    }
  }, [desk])

  const done = (work: () => Promise<unknown>) => {
    setAsked(undefined)
    act(work)
  }
  return (
    <div className={styles.page}>
      <Page
        title={<Link to="/states/$" params={{ _splat: workspace }} reloadDocument>{workspace}</Link>}
        name={`${workspace}: files`}
        line={active ? <Saved file={active} again={() => { act(() => desk.save(active.path)) }} /> : 'Its configuration, saved a second after the last key'}
        actions={
          mayWrite && active && !active.binary && languageToFormat(active.path) ? (
            <Button busy={task.isPending} onClick={() => { act(async () => { desk.replaceText(active.path, await format(languageToFormat(active.path)!, active.text)) }) }}>Format</Button>
          ) : null
        }
      >
        {state.error ? <Failed error={state.error} again={() => void desk.refresh()} /> : null}
        {task.error ? <Failed error={task.error} again={() => { task.reset() }} /> : null}
        {!state.loaded && !state.error ? <Skeleton what="the files" /> : null}
        <div className={styles.desk} hidden={!state.loaded}>
          <FileTree
            desk={state}
            mayWrite={mayWrite}
            onOpen={goTo}
            onNew={() => { setAsked({ kind: 'new' }) }}
            onRename={(path) => { setAsked({ kind: 'rename', path }) }}
            onDelete={(path) => { setAsked({ kind: 'delete', path }) }}
            onUpload={(list) => { const picked = [...list]; act(async () => { const files = await uploadsOf(picked); await desk.replace((now) => upload(workspace, files, now)) }) }}
          />
          <div className={styles.work}>
            <FileTabs open={state.open} active={state.active} onShow={(path) => { desk.activate(path) }} onClose={(path) => { act(() => desk.close(path)) }} />
            <Suspense fallback={<Skeleton what="the editor" />}>
              {!active ? (
                <p className={`${styles.nothing!} muted`}>Open a file at the left.</p>
              ) : active.state === 'conflict' ? (
                <MergeView key={active.path} file={active} onMine={(text) => { act(() => desk.resolve(active.path, text)) }} onTheirs={() => { desk.takeTheirs(active.path) }} />
              ) : active.binary ? (
                <p className={`${styles.nothing!} muted`}>This file is no text. Upload another one in its place to change it.</p>
              ) : (
                <CodeEditor workspace={workspace} file={active} readOnly={!mayWrite} diagnostics={found} line={line} onEdit={(path, text) => { desk.edit(path, text) }} onSave={() => { act(() => desk.save(active.path)) }} />
              )}
            </Suspense>
            {may('run:read') ? (
              <>
                <Splitter label="Height of the console" height={height} onChange={setHeight} />
                <div style={{ height }} className={styles.consoleFrame}>
                  <Console workspace={workspace} run={run} onRun={({ id }) => { setRun(id) }} save={() => desk.saveAll()} onPlace={goTo} />
                </div>
              </>
            ) : null}
          </div>
        </div>
      </Page>
      {asked?.kind === 'new' ? <PathDialog title="New file" verb="Create" first="" files={state.files} onClose={() => { setAsked(undefined) }} onDone={(path) => { done(() => desk.create(path)) }} /> : null}
      {asked?.kind === 'rename' ? <PathDialog title={`Rename ${asked.path}`} verb="Rename" first={asked.path} files={state.files} onClose={() => { setAsked(undefined) }} onDone={(path) => { done(() => desk.rename(asked.path, path)) }} /> : null}
      {asked?.kind === 'delete' ? <DeleteDialog path={asked.path} onClose={() => { setAsked(undefined) }} onDone={() => { done(() => desk.remove(asked.path)) }} /> : null}
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
