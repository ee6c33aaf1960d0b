import { expect, test } from 'vitest'
import type { Folder, State, Workspace } from '@/api/types'
import { openPaths, rowsOf, type Known, type Row } from './tree'

const state = (name: string): State => ({ name, version: null, lock: null, open_candidates: 0 })
const workspace = (name: string) => ({ name }) as Workspace
const folder = (name: string, states: number): Folder => ({ name, states, more: false })

function known(folders: Record<string, Folder[]>, states: Record<string, string[]>, more: string[] = []): Known {
  return {
    folders: (path) => folders[path],
    inside: (path) => (states[path] ? { states: states[path].map(state), more: more.includes(path) } : undefined),
  }
}

const shown = (row: Row) => `${' '.repeat(row.depth)}${row.kind === 'more' ? (row.reads ? 'reading' : 'more') : row.kind === 'folder' ? `${row.label} ${row.inside} ${row.open ? 'open' : 'closed'}` : row.label}`

test('folders with few states are open at first, and those with many are read when they are opened', () => {
  const all = known({ '': [folder('dev/', 1), folder('prod/', 9000)], 'dev/': [] }, { '': ['loose'], 'dev/': ['dev/a'] })
  expect(openPaths(all.folders, [], new Map())).toEqual(['', 'dev/'])
  expect(rowsOf(all, [], new Map()).map(shown)).toEqual(['dev/ 1 open', ' a', 'prod/ 9,000 closed', 'loose'])
  expect(openPaths(all.folders, [], new Map([['prod/', true], ['dev/', false]]))).toEqual(['', 'prod/'])
  expect(rowsOf(all, [], new Map([['prod/', true], ['dev/', false]])).map(shown)).toEqual(['dev/ 1 closed', 'prod/ 9,000 open', ' reading', 'loose'])
})

test('workspaces stand among the states, also where nothing was applied yet', () => {
  const all = known({ '': [folder('prod/', 1)], 'prod/': [], 'new/': [] }, { '': [], 'prod/': ['prod/net'], 'new/': [] })
  const rows = rowsOf(all, ['prod/net', 'prod/db', 'new/x'].map(workspace), new Map())
  expect(rows.map(shown)).toEqual(['new/ 1 never applied open', ' x', 'prod/ 1 open', ' db', ' net'])
})

test('a folder says that it has more than was read', () => {
  expect(rowsOf(known({ '': [] }, { '': ['a'] }, ['']), [], new Map()).map(shown)).toEqual(['a', 'more'])
})
