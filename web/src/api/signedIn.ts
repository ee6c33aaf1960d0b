import { isSignedOut, RequestFailure } from './failure'
import type { Identity } from './types'

/** nameOf tells one who is signed in from another one; it is empty for nobody. */
export function nameOf(who: Identity | null): string {
  return who === null ? '' : [who.org_id, who.key_id, who.subject].map(encodeURIComponent).join('/')
}

/** isOther says that the browser is signed in as another one by now than this page shows. */
export function isOther(error: unknown): boolean {
  return error instanceof RequestFailure && error.code === 'signed_in_as_other'
}

/**
 * SignedIn is whom this page shows. A cookie is one for all tabs of a browser, so each request names who is
 * meant, and the server does nothing for a tab that shows somebody else.
 */
export class SignedIn {
  /** As nameOf has it. */
  holder = ''
  private readonly readers = new Set<(error: unknown) => void>()

  /** whenOver calls a reader with each refusal that says that the session is over, or another one's. */
  whenOver(reader: (error: unknown) => void): () => void {
    this.readers.add(reader)
    return () => this.readers.delete(reader)
  }

  /** refused takes note of a refusal. */
  refused(error: unknown): void {
    if (isSignedOut(error) || isOther(error)) this.readers.forEach((tell) => { tell(error) })
  }
}

/** signedIn is whom this document shows. */
export const signedIn = new SignedIn()

/** The header in which a request names who is meant. */
export const signedInHeader = 'Holdfast-Signed-In'

/** named names in a request who is meant; not where it asks just that. */
export function named(request: Request, { holder } = signedIn): Request {
  if (holder !== '' && !request.url.endsWith('/api/v1/whoami')) request.headers.set(signedInHeader, holder)
  return request
}
