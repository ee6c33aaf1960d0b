import type { Files, FileText } from '@/api/files'
import type { FileEntry } from '@/api/types'
import type { Keeper } from '@/lib/drafts'

/**
 * Store is where the files of one workspace are. A change of a file names the digest of what it builds on,
 * null for no file, and is refused when something else is there by now; so is a change of many, which
 * builds on the number of all of them.
 */
export interface Store {
  list: () => Promise<Files>
  read: (path: string) => Promise<FileText | null>
  /** Returns the digest of what is stored. */
  write: (path: string, text: string, base: string | null) => Promise<string>
  remove: (path: string, base: string) => Promise<void>
  rename: (from: string, to: string, base: string) => Promise<void>
  isChanged: (error: unknown) => boolean
  isMoved: (error: unknown) => boolean
}

export type SaveState = 'saved' | 'edited' | 'saving' | 'conflict' | 'failed'

/** OpenFile is a file in a tab: what was read or saved last, what it is here, and how far saving is. */
export interface OpenFile {
  path: string
  /** Digest and text of what the server had when both were the same; null for a file that it never had. */
  base: { sha256: string; text: string } | null
  text: string
  /** Grows when the text was changed from outside, so that the editor shows it. */
  outside: number
  state: SaveState
  binary: boolean
  savedAt?: Date
  error?: unknown
  /** What somebody else has saved meanwhile; its text is null where that is none, its digest where they took the file away. */
  theirs?: { sha256: string | null; text: string | null }
}

/** DeskState is all that is shown of a desk. Each change makes another one. */
export interface DeskState {
  files: FileEntry[]
  open: OpenFile[]
  active: string | undefined
  loaded: boolean
  error?: unknown
}

const saveAfter = 1000

/** Where nobody keeps drafts. */
const forgetful: Keeper = { all: () => new Map(), keep: () => undefined, drop: () => undefined }

/**
 * Desk is the files of a workspace that one person has open. It saves a second after the last key, one file
 * at a time. A file that somebody else has saved meanwhile is never overwritten: it is in conflict until the
 * person has seen both and said which it is to be. What is saved nowhere yet is among the drafts, from which a later
 * desk takes it up.
 */
export class Desk {
  private state: DeskState = { files: [], open: [], active: undefined, loaded: false }
  private number = 0
  private readonly readers = new Set<() => void>()
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>()
  private last: Promise<unknown> = Promise.resolve()
  private stopped = false

  constructor(
    private readonly store: Store,
    private readonly drafts: Keeper = forgetful,
  ) {}

  /** stop saves nothing more: who has typed is not signed in any more. */
  stop(): void {
    this.stopped = true
    this.timers.forEach((timer) => { clearTimeout(timer) })
  }

  /** recover opens what was typed and not saved when the page was there last; its base is compared as always. */
  async recover(): Promise<void> {
    for (const path of this.drafts.all().keys()) await this.open(path)
  }

  subscribe = (reader: () => void) => {
    this.readers.add(reader)
    return () => { this.readers.delete(reader) }
  }

  current = () => this.state

  /** isClean says that all that was typed is saved. */
  isClean(): boolean {
    return this.state.open.every(({ state }) => state === 'saved')
  }

  /** refresh reads what others have done. Open files that nobody edits here follow; edited ones are in conflict. */
  refresh(): Promise<void> {
    return this.inTurn(async () => {
      try {
        this.listed(await this.store.list())
        await this.follow()
      } catch (error) {
        this.change({ error, loaded: this.state.loaded })
      }
    })
  }

  /** open shows a file in a tab. */
  async open(path: string): Promise<void> {
    if (this.find(path)) {
      this.change({ active: path })
      return
    }
    const file = await this.store.read(path)
    if (this.find(path)) return
    const draft = this.drafts.all().get(path)
    if (draft && draft.text !== file?.text) {
      this.takeUp(path, draft, file)
      return
    }
    this.drafts.drop(path)
    if (!file) return
    this.show({ path, base: { sha256: file.sha256, text: file.text ?? '' }, text: file.text ?? '', outside: 0, state: 'saved', binary: file.text === null })
  }

  /** create opens a file that is not there yet; it is saved at once, so that others see it. */
  async create(path: string): Promise<void> {
    if (this.find(path) || this.state.files.some((file) => file.path === path)) {
      await this.open(path)
      if (this.find(path)?.state === 'failed') await this.save(path)
      return
    }
    this.show({ path, base: null, text: '', outside: 0, state: 'edited', binary: false })
    await this.save(path)
  }

  activate(path: string): void {
    this.change({ active: path })
  }

  /** close takes a tab away; what was typed is saved first. What can't be saved stays, until it is dropped. */
  async close(path: string): Promise<void> {
    if (this.find(path)?.state === 'edited') await this.save(path)
    if (this.find(path)?.state === 'saved') this.forget(path)
  }

  /** drop takes a tab away with what was typed into it: for who has seen the conflict, and has said so. */
  drop(path: string): void {
    if (this.find(path)?.state === 'conflict') this.forget(path)
  }

  /** edit takes what was typed. */
  edit(path: string, text: string): void {
    const file = this.find(path)
    if (!file || file.text === text) return
    if (file.state === 'conflict') {
      this.set(path, { text })
      return
    }
    this.set(path, { text, state: 'edited' })
    this.saveLater(path)
  }

  private saveLater(path: string): void {
    clearTimeout(this.timers.get(path))
    if (!this.stopped) this.timers.set(path, setTimeout(() => void this.save(path), saveAfter))
  }

  /** takeUp shows a draft on top of what it was typed onto; beside what there is, where that is another one by now. */
  private takeUp(path: string, { text, base }: { text: string; base: string | null }, file: FileText | null): void {
    const unchanged = base === (file?.sha256 ?? null)
    const on = base === null ? null : { sha256: base, text: unchanged ? (file?.text ?? '') : '' }
    this.show({
      path, base: on, text, outside: 0, binary: false, state: unchanged ? 'edited' : 'conflict',
      ...(unchanged ? {} : { theirs: { sha256: file?.sha256 ?? null, text: file?.text ?? null } }),
    })
    if (unchanged) this.saveLater(path)
  }

  /** replaceText has another text in the place of what is there, such as the same one formatted. */
  replaceText(path: string, text: string): void {
    const file = this.find(path)
    if (!file || file.text === text) return
    this.edit(path, text)
    this.set(path, { outside: file.outside + 1 })
  }

  /** saveAll saves what waits for its second, and tells whether everything is saved now. */
  async saveAll(): Promise<boolean> {
    for (const { path, state } of this.state.open) if (state === 'edited' || state === 'failed') await this.save(path)
    await this.last
    return this.isClean()
  }

  /** save stores a file now, unless somebody else has saved another one meanwhile. */
  save(path: string): Promise<void> {
    clearTimeout(this.timers.get(path))
    return this.inTurn(() => this.saveNow(path))
  }

  /** resolve ends a conflict with a text that its reader has made of both. */
  async resolve(path: string, text: string): Promise<void> {
    const file = this.find(path)
    if (!file?.theirs) return
    const { sha256, text: theirs } = file.theirs
    this.set(path, { base: sha256 === null ? null : { sha256, text: theirs ?? '' }, text, outside: file.outside + 1, state: 'edited', theirs: undefined })
    await this.save(path)
  }

  /** takeTheirs ends a conflict with what the other one has saved. */
  takeTheirs(path: string): void {
    const file = this.find(path)
    if (!file?.theirs) return
    const { sha256, text } = file.theirs
    if (sha256 === null) {
      this.forget(path)
      return
    }
    this.set(path, { base: { sha256, text: text ?? '' }, text: text ?? '', binary: text === null, outside: file.outside + 1, state: 'saved', theirs: undefined })
  }

  remove(path: string): Promise<void> {
    return this.inTurn(async () => {
      await this.store.remove(path, this.digestOf(path))
      this.forget(path)
      this.listed(await this.store.list())
    })
  }

  /** rename gives a file another path; what was typed into it is saved first. */
  async rename(from: string, to: string): Promise<void> {
    if (this.find(from)?.state === 'edited') await this.save(from)
    await this.inTurn(async () => {
      await this.store.rename(from, to, this.digestOf(from))
      const open = this.state.open.map((file) => (file.path === from ? { ...file, path: to } : file))
      this.change({ open, active: this.state.active === from ? to : this.state.active })
      this.drafts.drop(from)
      clearTimeout(this.timers.get(from))
      const moved = this.find(to)
      if (moved) this.noted(moved)
      if (moved?.state === 'edited') this.saveLater(to) // typed while the file moved
      this.listed(await this.store.list())
    })
  }

  /** replace does a change of several files at once, such as an upload. */
  replace(change: (files: Files) => Promise<Files>): Promise<void> {
    return this.inTurn(async () => {
      this.listed(await this.builtOn((number) => change({ number, files: this.state.files })))
      await this.follow()
    })
  }

  private async saveNow(path: string): Promise<void> {
    const file = this.find(path)
    if (this.stopped || !file || file.binary || (file.state !== 'edited' && file.state !== 'failed')) return
    const text = file.text
    this.set(path, { state: 'saving', error: undefined })
    try {
      this.saved(path, text, await this.store.write(path, text, file.base?.sha256 ?? null))
    } catch (error) {
      if (this.store.isChanged(error)) await this.compare(path, text)
      else this.set(path, { state: 'failed', error })
    }
  }

  private saved(path: string, text: string, sha256: string): void {
    const still = this.find(path)?.text === text
    this.set(path, { base: { sha256, text }, state: still ? 'saved' : 'edited', savedAt: new Date() })
    const others = this.state.files.filter((file) => file.path !== path)
    const before = this.state.files.find((file) => file.path === path)
    this.change({ files: [...others, { ...before, path, size: text.length, sha256 }] })
    if (!still) this.saveLater(path)
  }

  /** compare reads what somebody else has saved; the file is in conflict, unless that is the same text. */
  private async compare(path: string, text: string): Promise<void> {
    try {
      const theirs = await this.store.read(path)
      if (theirs?.text === text) this.saved(path, text, theirs.sha256)
      else this.set(path, { state: 'conflict', theirs: { sha256: theirs?.sha256 ?? null, text: theirs?.text ?? null } })
    } catch (error) {
      this.set(path, { state: 'failed', error })
    }
  }

  private async follow(): Promise<void> {
    for (const { path, state } of this.state.open) {
      const file = this.find(path)!
      const entry = this.state.files.find((one) => one.path === path)
      if ((entry?.sha256 ?? null) === (file.theirs ? file.theirs.sha256 : (file.base?.sha256 ?? null))) continue
      if (state === 'conflict' || state === 'edited' || state === 'failed') {
        await this.compare(path, file.text)
        continue
      }
      const now = entry ? await this.store.read(path) : null
      if (this.find(path)?.state !== 'saved') continue
      if (now) this.set(path, { base: { sha256: now.sha256, text: now.text ?? '' }, text: now.text ?? '', binary: now.text === null, outside: file.outside + 1 })
      else this.forget(path)
    }
  }

  /** builtOn repeats a change that is about other files than those that somebody else has just changed. */
  private async builtOn(change: (number: number) => Promise<Files>): Promise<Files> {
    for (let tries = 0; ; tries++) {
      try {
        return await change(this.number)
      } catch (error) {
        if (!this.store.isMoved(error) || tries >= 5) throw error
        this.listed(await this.store.list())
      }
    }
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.last.then(work, work)
    this.last = next.catch(() => undefined)
    return next
  }

  private listed({ number, files }: Files): void {
    this.number = number
    this.change({ files, loaded: true, error: undefined })
  }

  private digestOf(path: string): string {
    return this.state.files.find((file) => file.path === path)?.sha256 ?? ''
  }

  private find(path: string): OpenFile | undefined {
    return this.state.open.find((file) => file.path === path)
  }

  private show(file: OpenFile): void {
    this.change({ open: [...this.state.open, file], active: file.path })
  }

  /** noted keeps what is saved nowhere, and forgets what is. */
  private noted({ path, state, text, base }: OpenFile): void {
    if (this.stopped) return
    if (state === 'saved') this.drafts.drop(path)
    else this.drafts.keep(path, { text, base: base?.sha256 ?? null })
  }

  private set(path: string, change: Partial<{ [Name in keyof OpenFile]: OpenFile[Name] | undefined }>): void {
    this.change({ open: this.state.open.map((file) => (file.path === path ? (Object.fromEntries(Object.entries({ ...file, ...change }).filter(([, value]) => value !== undefined)) as unknown as OpenFile) : file)) })
    const now = this.find(path)
    if (now) this.noted(now)
  }

  private forget(path: string): void {
    clearTimeout(this.timers.get(path))
    this.drafts.drop(path)
    const at = this.state.open.findIndex((file) => file.path === path)
    const open = this.state.open.filter((file) => file.path !== path)
    this.change({ open, active: this.state.active === path ? (open[at] ?? open[at - 1])?.path : this.state.active })
  }

  private change(change: Partial<DeskState>): void {
    this.state = { ...this.state, ...change }
    this.readers.forEach((tell) => { tell() })
  }
}
