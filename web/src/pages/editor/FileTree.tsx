import { useRef } from 'react'
import { Button } from '@/ui/Button'
import { Menu } from '@/ui/Menu'
import type { DeskState } from './desk'
import styles from './Editor.module.css'
import { treeOf } from './tree'

interface Props {
  /** The folders that are closed. */
  closed: string[] | undefined
  onClosed: (paths: string[]) => void
  desk: DeskState
  mayWrite: boolean
  onOpen: (path: string) => void
  onNew: () => void
  onRename: (path: string) => void
  onDelete: (path: string) => void
  onUpload: (files: FileList) => void
}

/** FileTree is the files of a workspace by folders. */
export function FileTree({ closed = [], onClosed, desk, mayWrite, onOpen, onNew, onRename, onDelete, onUpload }: Props) {
  const folder = useRef<HTMLInputElement>(null)
  const files = useRef<HTMLInputElement>(null)
  const toggle = (path: string) => {
    onClosed(closed.includes(path) ? closed.filter((other) => other !== path) : [...closed, path])
  }
  const picked = (input: HTMLInputElement) => {
    if (input.files && input.files.length > 0) onUpload(input.files)
    input.value = ''
  }
  const unsaved = new Set(desk.open.filter(({ state }) => state !== 'saved').map(({ path }) => path))
  return (
    <nav className={styles.tree} aria-label="Files">
      {mayWrite ? (
        <div className={styles.treeHead}>
          <Button onClick={onNew}>New file</Button>
          <Menu
            label="Upload"
            items={[
              { label: 'Upload a folder', run: () => folder.current?.click() },
              { label: 'Upload files', run: () => files.current?.click() },
            ]}
          >
            Upload ▾
          </Menu>
          <input ref={folder} type="file" hidden multiple aria-label="Folder to upload" {...{ webkitdirectory: '' }} onChange={({ target }) => { picked(target) }} />
          <input ref={files} type="file" hidden multiple aria-label="Files to upload" onChange={({ target }) => { picked(target) }} />
        </div>
      ) : null}
      <ul>
        {treeOf(desk.files, new Set(closed)).map((row) => (
          <li key={row.path} className={row.path === desk.active ? styles.treeHere : styles.treeRow} style={{ paddingInlineStart: `${String(8 + row.depth * 16)}px` }}>
            {row.kind === 'folder' ? (
              <button type="button" className={styles.treeName} aria-expanded={row.open} onClick={() => { toggle(row.path) }}>
                <span aria-hidden="true">{row.open ? '▾' : '▸'}</span> {row.name}
              </button>
            ) : (
              <>
                <button type="button" className={styles.treeName} aria-current={row.path === desk.active ? 'true' : undefined} title={row.path} onClick={() => { onOpen(row.path) }}>
                  {row.name}
                  {unsaved.has(row.path) ? <span aria-label="not saved"> ●</span> : null}
                </button>
                {mayWrite ? (
                  <span className={styles.treeMenu}>
                    <Menu
                      label={`${row.path}: rename or delete`}
                      items={[
                        { label: 'Rename…', run: () => { onRename(row.path) } },
                        { label: 'Delete…', loss: true, run: () => { onDelete(row.path) } },
                      ]}
                    >
                      ⋯
                    </Menu>
                  </span>
                ) : null}
              </>
            )}
          </li>
        ))}
      </ul>
      {desk.loaded && desk.files.length === 0 ? <p className={`${styles.treeEmpty!} muted`}>There are no files yet. Begin with <code>main.tf</code>, or upload a folder.</p> : null}
    </nav>
  )
}
