import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type Server as Listener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Issuer is an OpenID Connect issuer that knows one person, whom it asks whether they want to go on. */
export class Issuer {
  private readonly keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  /** What was asked for with each code. */
  private readonly asked = new Map<string, URLSearchParams>()

  private constructor(private readonly listener: Listener, readonly address: string, private readonly email: string) {}

  /** start makes one at another site than the server's: the browser comes back from elsewhere. */
  static async start(email: string): Promise<Issuer> {
    const listener = createServer()
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const issuer = new Issuer(listener, `http://localhost:${String((listener.address() as AddressInfo).port)}`, email)
    listener.on('request', (request, response) => void issuer.answer(request, response))
    return issuer
  }

  remove(): Promise<unknown> {
    this.listener.closeAllConnections()
    return new Promise((resolve) => this.listener.close(resolve))
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.address)
    const say = (body: object) => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body))
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        say({ issuer: this.address, authorization_endpoint: `${this.address}/authorize`, token_endpoint: `${this.address}/token`, jwks_uri: `${this.address}/keys`, id_token_signing_alg_values_supported: ['RS256'], response_types_supported: ['code'], subject_types_supported: ['public'] })
        return
      case '/keys':
        say({ keys: [{ ...this.keys.publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }] })
        return
      case '/authorize': {
        const code = randomUUID()
        this.asked.set(code, url.searchParams)
        const back = new URL(url.searchParams.get('redirect_uri') ?? '')
        back.search = new URLSearchParams({ code, state: url.searchParams.get('state') ?? '' }).toString()
        response.setHeader('Content-Type', 'text/html').end(`<!doctype html><a href="${back.href.replaceAll('&', '&amp;')}">Go on as ${this.email}</a>`)
        return
      }
      case '/token': {
        let body = ''
        for await (const part of request) body += String(part)
        this.exchange(new URLSearchParams(body), response, say)
        return
      }
      default:
        response.writeHead(404).end()
    }
  }

  /** exchange gives a token for a code, once, to who has what its challenge was made of. */
  private exchange(sent: URLSearchParams, response: ServerResponse, say: (body: object) => void): void {
    const asked = this.asked.get(sent.get('code') ?? '')
    this.asked.delete(sent.get('code') ?? '')
    const challenge = createHash('sha256').update(sent.get('code_verifier') ?? '').digest('base64url')
    if (!asked || asked.get('code_challenge_method') !== 'S256' || asked.get('code_challenge') !== challenge) {
      response.writeHead(400, { 'Content-Type': 'application/json' }).end('{"error":"invalid_grant"}')
      return
    }
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: this.address, aud: asked.get('client_id'), sub: 'ana-1', email: this.email, nonce: asked.get('nonce'), iat: now, exp: now + 300 }
    const text = `${encoded({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${encoded(claims)}`
    say({ access_token: 'nothing', token_type: 'Bearer', expires_in: 300, id_token: `${text}.${sign('sha256', Buffer.from(text), this.keys.privateKey).toString('base64url')}` })
  }
}
