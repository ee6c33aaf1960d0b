import { act, render } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import type { OpenFile } from './desk'
import MergeView from './MergeView'

/** Model is as much of Monaco's model as the view uses. */
interface Model { value: string; type: (text: string) => void }

const side = vi.hoisted(() => ({ addAction: () => undefined }))
const models = vi.hoisted((): Model[] => [])

vi.mock('./monaco', () => ({
  applyColours: () => undefined,
  font: () => '',
  languageOf: () => 'hcl',
  monaco: {
    editor: {
      createModel: (value: string) => {
        const readers = new Set<() => void>()
        const model = {
          value,
          getValue: () => model.value,
          isDisposed: () => false,
          dispose: () => undefined,
          onDidChangeContent: (reader: () => void) => {
            readers.add(reader)
            return { dispose: () => readers.delete(reader) }
          },
          type: (text: string) => {
            model.value = text
            readers.forEach((tell) => { tell() })
          },
        }
        models.push(model)
        return model
      },
      createDiffEditor: () => ({ setModel: () => undefined, dispose: () => undefined, getOriginalEditor: () => side, getModifiedEditor: () => side }),
    },
    KeyCode: {},
  },
}))

const file = (text: string, theirs: string): OpenFile => ({ path: 'main.tf', base: null, text, outside: 0, state: 'conflict', binary: false, theirs: { sha256: theirs, text: theirs } })

test('what is typed in a merge reaches the desk, and stays when theirs changes again', () => {
  let text = 'mine'
  const view = (theirs: string) => <MergeView file={file(text, theirs)} onEdit={(typed) => { text = typed }} onMine={() => undefined} onTheirs={() => undefined} />
  const { rerender } = render(view('theirs'))
  act(() => { models.at(-1)!.type('mine and theirs') })
  expect(text).toBe('mine and theirs')
  rerender(view('theirs'))
  rerender(view('theirs again'))
  expect(models.at(-1)!.value).toBe('mine and theirs')
})
