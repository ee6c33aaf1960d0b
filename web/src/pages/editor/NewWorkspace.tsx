import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type SyntheticEvent } from 'react'
import { createWorkspace, toolsQuery } from '@/api/runs'
import type { ToolVersions } from '@/api/types'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { Choice, Field } from '@/ui/Field'
import { Failed } from '@/ui/states'
import styles from './Editor.module.css'

type Tool = ToolVersions['tool']

const tools: Record<Tool, string> = { opentofu: 'OpenTofu', terraform: 'Terraform', terragrunt: 'Terragrunt', engine: 'Holdfast' }

/** The choice of a version that is not installed. */
const another = 'another'

/** NewWorkspace asks for a workspace's name and what plans it, makes it, and goes to its files. */
export function NewWorkspace({ onClose }: { onClose: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [tool, setTool] = useState<Tool>('opentofu')
  // Empty is the newest version that the configuration allows.
  const [version, setVersion] = useState('')
  const [typed, setTyped] = useState('')
  const known = useQuery(toolsQuery)
  const has = known.data?.find((one) => one.tool === tool)
  const wanted = version === another ? typed.trim() : version
  const make = useMutation({
    mutationFn: () => createWorkspace({ name: name.trim(), tool, ...(wanted === '' ? {} : { version: wanted }) }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['workspaces'] })
      // The editor has a document of its own.
      await navigate({ to: '/editor/$', params: { _splat: name.trim() }, reloadDocument: true })
    },
  })
  const ready = name.trim() !== '' && (version !== another || wanted !== '')
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (ready) make.mutate()
  }
  const choose = (chosen: Tool) => {
    setTool(chosen)
    setVersion('')
  }
  return (
    <Dialog title="Make a workspace" open onClose={onClose}>
      <form onSubmit={submit} className={styles.approval}>
        <Field label="Name" value={name} onChange={({ target }) => { setName(target.value) }} help="The name of its state too, with slashes for folders, such as prod/network." autoComplete="off" spellCheck={false} autoCapitalize="off" />
        <Choice label="Tool" value={tool} onChange={({ target }) => { choose(target.value as Tool) }}>
          {Object.entries(tools).map(([id, called]) => <option key={id} value={id}>{called}</option>)}
        </Choice>
        {/* The engine is a part of the server: there is but one version of it. */}
        {tool === 'engine' ? null : (
          <Choice label="Version" value={version} onChange={({ target }) => { setVersion(target.value) }}>
            <option value="">{newestOf(has)}</option>
            {has?.versions.map((one) => <option key={one} value={one}>{one}</option>)}
            {has?.downloads ? <option value={another}>another one…</option> : null}
          </Choice>
        )}
        {version === another ? <Field label="Which version" value={typed} onChange={({ target }) => { setTyped(target.value) }} help="It is downloaded when it is wanted." autoComplete="off" spellCheck={false} /> : null}
        {has?.versions.length === 0 && !has.downloads ? <p className="muted">The server has no version of {tools[tool]}. <code>holdfast tool add {tool}</code> adds one; runs fail until then.</p> : null}
        {make.error ?? known.error ? <Failed error={make.error ?? known.error} /> : null}
        <div className={styles.approvalButtons}>
          <Button kind="main" type="submit" disabled={!ready} busy={make.isPending}>Make it</Button>
          <Button kind="quiet" onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}

/** newestOf is what no choice of a version means. */
function newestOf(has: ToolVersions | undefined): string {
  const newest = has?.versions[0]
  return newest === undefined ? 'newest' : `newest installed (${newest})`
}
