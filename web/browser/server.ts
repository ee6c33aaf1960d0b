import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'

/** The programs that the tests run; scripts/browser.sh names them. */
export function program(name: 'HOLDFAST_BIN' | 'TOFU_BIN' | 'CHROMIUM_BIN'): string {
  const path = process.env[name]
  if (path === undefined || path === '') throw new Error(`${name} is not set: run scripts/browser.sh`)
  return path
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const listener = createServer()
    listener.once('error', reject)
    listener.listen(0, '127.0.0.1', () => {
      const { port } = listener.address() as { port: number }
      listener.close(() => { resolve(port) })
    })
  })
}

/** Server is a real server with an organization of its own, and what people do with it at a terminal. */
export class Server {
  private process: ChildProcess | undefined
  /** What stands beside the server, and goes with it. */
  private readonly beside: { remove: () => Promise<void> }[] = []

  private constructor(
    private readonly folder: string,
    private readonly environ: NodeJS.ProcessEnv,
    readonly address: string,
    readonly org: string,
    readonly key: string,
  ) {}

  /** start makes a server; settings are lines for the organization's section of auth.cfg, and more is sections below it and what the server is told besides. */
  static async start(settings: string[] = [], more: (own: { address: string; org: string }) => { sections?: string; environ?: NodeJS.ProcessEnv } = () => ({})): Promise<Server> {
    // Short, because the folders of runs have sockets in them.
    const folder = mkdtempSync('/tmp/hfw')
    const port = await freePort()
    const environ = {
      PATH: process.env.PATH,
      HOME: folder,
      HOST: '127.0.0.1',
      PORT: String(port),
      HOLDFAST_AUTH_FILE: join(folder, 'auth.cfg'),
      STORAGE_PATH: join(folder, 'data'),
      HOLDFAST_RUNS_WORK_PATH: join(folder, 'w'),
      HOLDFAST_RATE_LIMIT: 'off',
      HOLDFAST_STATE_RATE_LIMIT: 'off',
      HOLDFAST_LOG_FORMAT: 'json',
      // Repositories of tests are on this machine.
      HOLDFAST_REPOSITORIES_NETWORKS: '127.0.0.1',
      HOLDFAST_REPOSITORIES_ALLOW_HTTP: 'true',
    }
    const address = `http://127.0.0.1:${String(port)}`
    const made = JSON.parse(run(folder, environ, ['init', '--json', '--org-name', 'Acme'])) as { organization: string; key: string }
    const section = `[${made.organization}]\n`
    const file = environ.HOLDFAST_AUTH_FILE
    const { sections = '', environ: told = {} } = more({ address, org: made.organization })
    writeFileSync(file, readFileSync(file, 'utf8').replace(section, section + settings.map((line) => `${line}\n`).join('')) + sections)
    run(folder, environ, ['tool', 'add', 'opentofu', '1.12.6', program('TOFU_BIN')])
    const server = new Server(folder, { ...environ, ...told }, address, made.organization, made.key)
    await server.serve()
    return server
  }

  /** serve starts the process, and waits until it takes requests. */
  async serve(): Promise<void> {
    const child = spawn(program('HOLDFAST_BIN'), ['serve'], { cwd: this.folder, env: this.environ, stdio: ['ignore', 'pipe', 'pipe'] })
    this.process = child
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (said = (said + bytes.toString()).slice(-4000)))
    for (let tries = 0; tries < 200; tries++) {
      if (child.exitCode !== null) throw new Error(`the server has ended: ${said}`)
      const ready = await fetch(`${this.address}/readyz`).then((answer) => answer.ok, () => false)
      if (ready) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error(`the server is not ready: ${said}`)
  }

  /** end stops the process, as an operator does. */
  async end(): Promise<void> {
    const child = this.process
    if (!child || child.exitCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
  }

  /** has keeps what the server needs for as long as it is there. */
  has<One extends { remove: () => Promise<void> }>(one: One): One {
    this.beside.push(one)
    return one
  }

  async remove(): Promise<void> {
    await this.end()
    for (const one of this.beside) await one.remove()
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }

  /** holdfast runs a command against the server; an exit code in `fine` is no failure. */
  holdfast(args: string[], fine: number[] = [0], input = ''): string {
    const environ = { ...this.environ, HOLDFAST_ADDR: this.address, HOLDFAST_ORG: this.org, HOLDFAST_KEY: this.key }
    return run(this.folder, environ, args, fine, input)
  }

  /** keyOf makes a key of a role and returns it. */
  async keyOf(role: string): Promise<string> {
    return (await this.call<{ key: string }>('POST', '/api/v1/keys', { name: role, role })).key
  }

  /** call asks the API with the organization's key. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(this.address + path, {
      method,
      headers: { 'X-API-Key': this.key, 'X-Org-ID': this.org, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  /** text reads what the API has at a path, as it is. */
  async text(path: string): Promise<string> {
    const answer = await fetch(this.address + path, { headers: { 'X-API-Key': this.key, 'X-Org-ID': this.org } })
    if (!answer.ok) throw new Error(`${path}: ${String(answer.status)} ${await answer.text()}`)
    return answer.text()
  }

  /** configuration writes files into a folder and returns it. */
  configuration(name: string, files: Record<string, string>): string {
    const folder = join(this.folder, 'configurations', name)
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
    return folder
  }

  /** workspace makes a workspace with a configuration. */
  workspace(name: string, files: Record<string, string>): void {
    this.holdfast(['workspace', 'create', name, '--tool', 'opentofu', '--version', '1.12.6'])
    this.push(name, files)
  }

  /** besideConfigurations writes an empty file into the folder of each run that goes on. */
  besideConfigurations(name: string): void {
    for (const path of readdirSync(join(this.folder, 'w'), { recursive: true, encoding: 'utf8' })) {
      if (basename(path) === 'main.tf') writeFileSync(join(this.folder, 'w', dirname(path), name), '')
    }
  }

  push(name: string, files: Record<string, string>): void {
    this.holdfast(['config', 'push', name, this.configuration(name, files)])
  }
}

/** parentOf waits for a command that has this in its command line, and returns the process that has started it. */
export async function parentOf(mark: string): Promise<number> {
  for (;;) {
    const parents = new Map<number, number>()
    for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
      try {
        if (!readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').includes(mark)) continue
        parents.set(pid, Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1]))
      } catch {
        continue // it has ended
      }
    }
    // What the command has just forked has its command line, too.
    for (const parent of parents.values()) if (!parents.has(parent)) return parent
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function run(folder: string, environ: NodeJS.ProcessEnv, args: string[], fine: number[] = [0], input = ''): string {
  try {
    return execFileSync(program('HOLDFAST_BIN'), args, { cwd: folder, env: environ, encoding: 'utf8', input, stdio: ['pipe', 'pipe', 'pipe'] })
  } catch (error) {
    const failed = error as { status: number; stdout: string; stderr: string }
    if (fine.includes(failed.status)) return failed.stdout
    throw new Error(`holdfast ${args.join(' ')}: ${failed.stdout}${failed.stderr}`, { cause: error })
  }
}
