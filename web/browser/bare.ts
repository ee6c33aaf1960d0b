import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { program } from './server'

type Params = Record<string, unknown>
/** Reply is what the browser answers a call; see https://chromedevtools.github.io/devtools-protocol/. */
type Reply = Record<string, unknown>

/**
 * BareBrowser is Debian's Chromium as people have it: only what is asked for here is watched. Playwright has the browser note where
 * in the sources each error is made, and reads half a megabyte of script twice for it; who measures the time of a page can't have that.
 */
export class BareBrowser {
  private last = 0
  private readonly calls = new Map<number, (reply: Reply) => void>()
  private readonly events = new Map<string, (params: Params) => void>()
  private rest = ''

  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
  ) {
    const answers = process.stdio[4] as Readable
    answers.on('data', (bytes: Buffer) => { this.take(bytes.toString()) })
  }

  static start(): BareBrowser {
    const folder = mkdtempSync('/tmp/hfb')
    const options = ['--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking', `--user-data-dir=${folder}`, '--remote-debugging-pipe', 'about:blank']
    return new BareBrowser(spawn(program('CHROMIUM_BIN'), options, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] }), folder)
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve))
    await this.send('Browser.close')
    await ended
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }

  /** send calls a method of the protocol, of the browser or of a page that is attached to. */
  send(method: string, params: Params = {}, sessionId?: string): Promise<Reply> {
    const id = ++this.last
    const pipe = this.process.stdio[3] as Writable
    return new Promise((resolve) => {
      this.calls.set(id, resolve)
      pipe.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    })
  }

  /** heard waits until a page tells an event of which there is something to say, and returns that. */
  heard<T>(method: string, sessionId: string, say: (params: Params) => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      this.events.set(`${sessionId} ${method}`, (params) => {
        const said = say(params)
        if (said !== undefined) resolve(said)
      })
    })
  }

  private take(text: string): void {
    const messages = (this.rest + text).split('\0')
    this.rest = messages.pop() ?? ''
    for (const message of messages) this.hear(JSON.parse(message) as { id?: number; method?: string; params?: Params; result?: Reply; error?: Reply; sessionId?: string })
  }

  private hear({ id, method, params, result, error, sessionId }: { id?: number; method?: string; params?: Params; result?: Reply; error?: Reply; sessionId?: string }): void {
    if (error) throw new Error(`the browser refuses a call: ${JSON.stringify(error)}`)
    if (id !== undefined) this.calls.get(id)?.(result ?? {})
    else this.events.get(`${sessionId ?? ''} ${method ?? ''}`)?.(params ?? {})
  }
}
