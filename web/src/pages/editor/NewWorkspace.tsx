import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type SyntheticEvent } from 'react'
import { createWorkspace } from '@/api/runs'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { Choice, Field } from '@/ui/Field'
import { Failed } from '@/ui/states'
import styles from './Editor.module.css'

type Tool = 'opentofu' | 'terraform' | 'engine'

const toolOf = (text: string): Tool => (text === 'terraform' || text === 'engine' ? text : 'opentofu')

/** NewWorkspace asks for a workspace's name and what plans it, makes it, and goes to its files. */
export function NewWorkspace({ onClose }: { onClose: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [tool, setTool] = useState<Tool>('opentofu')
  const [version, setVersion] = useState('')
  const make = useMutation({
    mutationFn: () => createWorkspace({ name: name.trim(), tool, version: version.trim() }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['workspaces'] })
      // The editor has a document of its own.
      await navigate({ to: '/editor/$', params: { _splat: name.trim() }, reloadDocument: true })
    },
  })
  // The engine is a part of the server: there is but one version of it.
  const ready = name.trim() !== '' && (version.trim() !== '' || tool === 'engine')
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (ready) make.mutate()
  }
  return (
    <Dialog title="Make a workspace" open onClose={onClose}>
      <form onSubmit={submit} className={styles.approval}>
        <Field label="Name" value={name} onChange={({ target }) => { setName(target.value) }} help="The name of its state too, with slashes for folders, such as prod/network." autoComplete="off" spellCheck={false} autoCapitalize="off" />
        <Choice label="Tool" value={tool} onChange={({ target }) => { setTool(toolOf(target.value)) }}>
          <option value="opentofu">OpenTofu</option>
          <option value="terraform">Terraform</option>
          <option value="engine">Holdfast</option>
        </Choice>
        <Field label="Version" value={version} onChange={({ target }) => { setVersion(target.value) }} help="One that the server knows, such as 1.12.6." autoComplete="off" spellCheck={false} />
        {make.error ? <Failed error={make.error} /> : null}
        <div className={styles.approvalButtons}>
          <Button kind="main" type="submit" disabled={!ready} busy={make.isPending}>Make it</Button>
          <Button kind="quiet" onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}
