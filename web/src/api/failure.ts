import type { Failure } from './types'

/** Said is what is known of a failure; its code is the page's own where no answer came. */
type Said = Partial<Omit<Failure, 'code'> & { code: string }>

/** A request that was refused, or never answered. Its code is one of docs/api.md, or 'unreachable'. */
export class RequestFailure extends Error {
  readonly status: number
  readonly code: string
  readonly requestID: string
  readonly details: NonNullable<Failure['details']>

  constructor(status: number, body: Said) {
    super(body.message ?? 'The server did not say why.')
    this.name = 'RequestFailure'
    this.status = status
    this.code = body.code ?? `status_${String(status)}`
    this.requestID = body.request_id ?? ''
    this.details = body.details ?? []
  }
}

/** unreachable says that no answer came: the server is away, or the way to it. */
export function unreachable(): RequestFailure {
  return new RequestFailure(0, {
    code: 'unreachable',
    message: 'The server does not answer. Nothing says whether it did what was asked; look again when it is back.',
  })
}

/** failureOf reads an answer that is no success; a held lock's answer is the holder's LockInfo. */
export function failureOf(response: Response, body: unknown): RequestFailure {
  const requestID = response.headers.get('X-Request-ID') ?? ''
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    return new RequestFailure(response.status, { request_id: requestID })
  }
  if (response.status === 409 && 'ID' in body && typeof body.ID === 'string') {
    const who = 'Who' in body && typeof body.Who === 'string' && body.Who !== '' ? body.Who : 'Somebody'
    return new RequestFailure(409, { code: 'lock_held', message: `${who} holds the lock.`, request_id: requestID })
  }
  return new RequestFailure(response.status, { request_id: requestID, ...(body as Said) })
}

/** isSignedOut says that the credentials are missing or no longer good. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof RequestFailure && error.status === 401
}
