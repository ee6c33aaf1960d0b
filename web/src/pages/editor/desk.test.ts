import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Files, FileText } from '@/api/files'
import { Drafts } from '@/lib/drafts'
import { Desk, type Store } from './desk'

class Changed extends Error {}

/** Shared is the files of a workspace in memory, as several people share them. */
class Shared {
  readonly texts: Map<string, string>
  writes = 0
  /** Loses the answer to the next write, which is done all the same. */
  loseNext = false

  constructor(texts: Record<string, string>) {
    this.texts = new Map(Object.entries(texts))
  }

  files(): Files {
    return { number: 1, files: [...this.texts].map(([path, text]) => ({ path, size: text.length, sha256: `of ${text}` })) }
  }

  private check(path: string, base: string | null): void {
    const text = this.texts.get(path)
    if ((text === undefined ? null : `of ${text}`) !== base) throw new Changed()
  }

  store(): Store {
    return {
      list: () => Promise.resolve(this.files()),
      read: (path): Promise<FileText | null> => {
        const text = this.texts.get(path)
        return Promise.resolve(text === undefined ? null : { path, sha256: `of ${text}`, text })
      },
      write: async (path, text, base) => {
        await Promise.resolve()
        this.check(path, base)
        this.writes++
        this.texts.set(path, text)
        if (this.loseNext) {
          this.loseNext = false
          throw new Error('no answer')
        }
        return `of ${text}`
      },
      remove: async (path, base) => {
        await Promise.resolve()
        this.check(path, base)
        this.texts.delete(path)
      },
      rename: async (from, to, base) => {
        await Promise.resolve()
        this.check(from, base)
        this.texts.set(to, this.texts.get(from)!)
        this.texts.delete(from)
      },
      isChanged: (error) => error instanceof Changed,
      isMoved: () => false,
    }
  }
}

async function deskOf(shared: Shared, ...paths: string[]): Promise<Desk> {
  const desk = new Desk(shared.store())
  await desk.refresh()
  for (const path of paths) await desk.open(path)
  return desk
}

const fileOf = (desk: Desk, path: string) => desk.current().open.find((file) => file.path === path)!

beforeEach(() => { vi.useFakeTimers() })
afterEach(() => { vi.useRealTimers() })

test('a text is saved once, a second after the last key', async () => {
  const shared = new Shared({ 'main.tf': 'a' })
  const desk = await deskOf(shared, 'main.tf')
  desk.edit('main.tf', 'ab')
  await vi.advanceTimersByTimeAsync(900)
  desk.edit('main.tf', 'abc')
  await vi.advanceTimersByTimeAsync(900)
  expect(shared.writes).toBe(0)
  await vi.advanceTimersByTimeAsync(200)
  expect(shared.texts.get('main.tf')).toBe('abc')
  expect(shared.writes).toBe(1)
  expect(fileOf(desk, 'main.tf').state).toBe('saved')
})

test('what somebody else has saved is not overwritten, and both are there to look at', async () => {
  const shared = new Shared({ 'main.tf': 'a' })
  const ana = await deskOf(shared, 'main.tf')
  const bob = await deskOf(shared, 'main.tf')
  ana.edit('main.tf', 'ana')
  bob.edit('main.tf', 'bob')
  await ana.saveAll()
  expect(await bob.saveAll()).toBe(false)
  expect(shared.texts.get('main.tf')).toBe('ana')
  expect(fileOf(bob, 'main.tf')).toMatchObject({ state: 'conflict', text: 'bob', theirs: { text: 'ana' } })

  await bob.resolve('main.tf', 'ana and bob')
  expect(shared.texts.get('main.tf')).toBe('ana and bob')
  expect(fileOf(bob, 'main.tf').state).toBe('saved')
})

test('a third save while a conflict is looked at makes another conflict', async () => {
  const shared = new Shared({ 'main.tf': 'a' })
  const bob = await deskOf(shared, 'main.tf')
  bob.edit('main.tf', 'bob')
  shared.texts.set('main.tf', 'ana')
  await bob.saveAll()
  shared.texts.set('main.tf', 'ana again')
  await bob.resolve('main.tf', 'ana and bob')
  expect(shared.texts.get('main.tf')).toBe('ana again')
  expect(fileOf(bob, 'main.tf')).toMatchObject({ state: 'conflict', theirs: { text: 'ana again' }, text: 'ana and bob' })
})

test('a change of another file is none of this file', async () => {
  const shared = new Shared({ 'main.tf': 'a', 'other.tf': 'o' })
  const desk = await deskOf(shared, 'main.tf')
  shared.texts.set('other.tf', 'p')
  desk.edit('main.tf', 'b')
  expect(await desk.saveAll()).toBe(true)
  expect(Object.fromEntries(shared.texts)).toEqual({ 'main.tf': 'b', 'other.tf': 'p' })
})

test('a save whose answer got lost is no conflict with oneself', async () => {
  const shared = new Shared({ 'main.tf': 'a' })
  const desk = await deskOf(shared, 'main.tf')
  desk.edit('main.tf', 'b')
  shared.loseNext = true
  expect(await desk.saveAll()).toBe(false)
  expect(fileOf(desk, 'main.tf').state).toBe('failed')
  expect(await desk.saveAll()).toBe(true)
  expect(shared.writes).toBe(1)
})

test('what is typed while a save is under way is saved after it', async () => {
  const shared = new Shared({ 'main.tf': 'a' })
  const desk = await deskOf(shared, 'main.tf')
  desk.edit('main.tf', 'b')
  const saving = desk.save('main.tf')
  await Promise.resolve()
  desk.edit('main.tf', 'bc')
  await saving
  expect(fileOf(desk, 'main.tf').state).not.toBe('saved')
  await vi.advanceTimersByTimeAsync(1100)
  expect(shared.texts.get('main.tf')).toBe('bc')
  expect(desk.isClean()).toBe(true)
})

test('a file that nobody edits here follows what others save; one that is edited does not', async () => {
  const shared = new Shared({ 'main.tf': 'a', 'other.tf': 'o' })
  const desk = await deskOf(shared, 'main.tf', 'other.tf')
  desk.edit('other.tf', 'mine')
  shared.texts.set('main.tf', 'theirs')
  shared.texts.set('other.tf', 'theirs too')
  await desk.refresh()
  expect(fileOf(desk, 'main.tf')).toMatchObject({ text: 'theirs', state: 'saved' })
  expect(fileOf(desk, 'other.tf')).toMatchObject({ text: 'mine', state: 'conflict' })
})

test('a file that was deleted meanwhile is a conflict where it is edited, and gone where it is not', async () => {
  const shared = new Shared({ 'main.tf': 'a', 'other.tf': 'o' })
  const desk = await deskOf(shared, 'main.tf', 'other.tf')
  desk.edit('main.tf', 'b')
  shared.texts.delete('main.tf')
  shared.texts.delete('other.tf')
  await desk.saveAll()
  await desk.refresh()
  expect(fileOf(desk, 'main.tf')).toMatchObject({ state: 'conflict', theirs: { text: null } })
  expect(fileOf(desk, 'other.tf')).toBeUndefined()
  await desk.resolve('main.tf', 'b')
  expect(shared.texts.get('main.tf')).toBe('b')
})

test('a renamed file keeps its tab, and what was typed into it', async () => {
  const shared = new Shared({ 'main.tf': 'a' })
  const desk = await deskOf(shared, 'main.tf')
  desk.edit('main.tf', 'b')
  await desk.rename('main.tf', 'network.tf')
  expect(desk.current().active).toBe('network.tf')
  expect(Object.fromEntries(shared.texts)).toEqual({ 'network.tf': 'b' })
})

test('closing a tab that turns out to be in conflict keeps what was typed', async () => {
  const shared = new Shared({ 'main.tf': 'a' })
  const desk = await deskOf(shared, 'main.tf')
  desk.edit('main.tf', 'mine')
  shared.texts.set('main.tf', 'theirs')
  await desk.close('main.tf')
  expect(fileOf(desk, 'main.tf')).toMatchObject({ state: 'conflict', text: 'mine', theirs: { text: 'theirs' } })
  await desk.close('main.tf')
  expect(fileOf(desk, 'main.tf').text).toBe('mine')
  desk.drop('main.tf')
  expect(desk.current().open).toEqual([])
})

test('only a conflict is dropped', async () => {
  const desk = await deskOf(new Shared({ 'main.tf': 'a' }), 'main.tf')
  desk.edit('main.tf', 'mine')
  desk.drop('main.tf')
  expect(fileOf(desk, 'main.tf').text).toBe('mine')
})

test('what was typed and not saved when the session ended is there again for the same one', async () => {
  sessionStorage.clear()
  const shared = new Shared({ 'main.tf': 'a', 'other.tf': 'o' })
  const drafts = new Drafts(sessionStorage)
  const begun = async () => {
    const desk = new Desk(shared.store(), drafts.of('ana', 'w'))
    await desk.refresh()
    await desk.recover()
    return desk
  }
  const first = await begun()
  await first.open('main.tf')
  await first.open('other.tf')
  first.edit('main.tf', 'typed')
  first.edit('other.tf', 'typed too')
  first.stop()
  await vi.advanceTimersByTimeAsync(5000)
  expect(shared.writes).toBe(0)

  shared.texts.set('other.tf', 'theirs')
  const second = await begun()
  expect(fileOf(second, 'main.tf')).toMatchObject({ text: 'typed', state: 'edited' })
  expect(fileOf(second, 'other.tf')).toMatchObject({ text: 'typed too', state: 'conflict', theirs: { text: 'theirs' } })
  second.edit('other.tf', 'typed on')
  second.stop()

  const third = await begun()
  expect(fileOf(third, 'other.tf')).toMatchObject({ text: 'typed on', state: 'conflict', theirs: { text: 'theirs' } })
  await vi.advanceTimersByTimeAsync(1100)
  expect(shared.texts.get('main.tf')).toBe('typed')
  third.takeTheirs('other.tf')
  expect(drafts.count('ana')).toBe(0)
  expect(shared.texts.get('other.tf')).toBe('theirs')
})

test('what is typed while a file is renamed is saved under its new path', async () => {
  const shared = new Shared({ 'main.tf': 'a' })
  const desk = await deskOf(shared, 'main.tf')
  const moving = desk.rename('main.tf', 'network.tf')
  desk.edit('main.tf', 'typed')
  await moving
  await vi.advanceTimersByTimeAsync(1100)
  expect(Object.fromEntries(shared.texts)).toEqual({ 'network.tf': 'typed' })
  expect(desk.isClean()).toBe(true)
})

test('a file whose first save has failed has one tab when it is made again', async () => {
  const shared = new Shared({})
  const store = shared.store()
  let fails = true
  const desk = new Desk({ ...store, write: (...args) => (fails ? Promise.reject(new Error('away')) : store.write(...args)) })
  await desk.refresh()
  await desk.create('main.tf')
  fails = false
  await desk.create('main.tf')
  expect(desk.current().open).toHaveLength(1)
  expect(shared.texts.get('main.tf')).toBe('')
})

test('a file that is replaced by one that is no text can be taken, or written over', async () => {
  const shared = new Shared({ 'main.tf': 'a' })
  const store = shared.store()
  const binary: Store = { ...store, read: async (path) => { const file = await store.read(path); return file?.text === 'bin' ? { ...file, text: null } : file } }
  for (const take of [true, false]) {
    shared.texts.set('main.tf', 'a')
    const desk = new Desk(binary)
    await desk.refresh()
    await desk.open('main.tf')
    desk.edit('main.tf', 'mine')
    shared.texts.set('main.tf', 'bin')
    await desk.saveAll()
    expect(fileOf(desk, 'main.tf')).toMatchObject({ state: 'conflict', theirs: { sha256: 'of bin', text: null } })
    if (take) desk.takeTheirs('main.tf')
    else await desk.resolve('main.tf', 'mine')
    expect(fileOf(desk, 'main.tf')).toMatchObject({ state: 'saved', binary: take })
    expect(shared.texts.get('main.tf')).toBe(take ? 'bin' : 'mine')
  }
})
