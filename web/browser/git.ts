import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server as Listener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'

// Nothing of the machine's own configuration makes a difference.
const plain = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', HOME: '/nonexistent' }
const somebody = { GIT_AUTHOR_NAME: 'Ana', GIT_AUTHOR_EMAIL: 'ana@example.com', GIT_COMMITTER_NAME: 'Ana', GIT_COMMITTER_EMAIL: 'ana@example.com' }

/** GitServer serves repositories to a server, with git's own http-backend. */
export class GitServer {
  private constructor(private readonly listener: Listener, private readonly folder: string, private readonly address: string) {}

  static async start(): Promise<GitServer> {
    const folder = mkdtempSync('/tmp/hfg')
    const listener = createServer((request, response) => { backend(folder, request, response) })
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    return new GitServer(listener, folder, `http://127.0.0.1:${String((listener.address() as AddressInfo).port)}`)
  }

  /** url is where a repository is. */
  url(name: string): string {
    return `${this.address}/${name}/.git`
  }

  /** commit makes a commit of files, in a repository that it makes, too, and returns it. */
  commit(name: string, message: string, files: Record<string, string>): string {
    const at = join(this.folder, name)
    const git = (...args: string[]) => execFileSync('git', args, { cwd: at, env: { ...plain, ...somebody }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    mkdirSync(at, { recursive: true })
    git('init', '--quiet', '--initial-branch', 'main')
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(at, path)), { recursive: true })
      writeFileSync(join(at, path), content)
    }
    git('add', '--all')
    git('commit', '--quiet', '--message', message)
    return git('rev-parse', 'HEAD').trim()
  }

  async remove(): Promise<void> {
    this.listener.closeAllConnections()
    await new Promise((resolve) => this.listener.close(resolve))
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}

/** backend has git answer a request, as CGI has it. */
function backend(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://git')
  const child = spawn('git', ['http-backend'], {
    env: {
      ...plain,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      GIT_CONFIG_KEY_1: 'uploadpack.allowAnySHA1InWant',
      GIT_CONFIG_VALUE_1: 'true',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'],
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.stdin.on('error', () => undefined)
  request.pipe(child.stdin)
  const parts: Buffer[] = []
  child.stdout.on('data', (part: Buffer) => parts.push(part))
  child.on('close', () => {
    const said = Buffer.concat(parts)
    const end = said.indexOf('\r\n\r\n')
    let status = end < 0 ? 500 : 200
    for (const line of said.subarray(0, Math.max(end, 0)).toString('latin1').split('\r\n')) {
      const [name = '', value = ''] = line.split(/: (.*)/)
      if (name === 'Status') status = Number.parseInt(value, 10)
      else if (name !== '') response.setHeader(name, value)
    }
    response.writeHead(status).end(said.subarray(end + 4))
  })
}
