import { RequestFailure } from '@/api/failure'

/** The address at which the server says why an issuer's sign-in came to nothing. */
const signInPath = '/ui/sign-in'

const words: Record<string, string> = {
  sign_in_stale: 'The sign-in took too long, or was begun elsewhere. Begin again.',
  token_refused: 'The issuer has not signed you in, or no rule of an organization lets you in as who it says you are.',
  issuer_unavailable: 'The issuer does not answer. Try again, or sign in with a key.',
  sign_in_off: 'No issuer signs people in here. Sign in with a key.',
}

/** refusedBy is why a sign-in came to nothing, as an address says; null where it says nothing of it. */
export function refusedBy(search: string): RequestFailure | null {
  const said = new URLSearchParams(search)
  const code = said.get('error')
  if (code === null || !/^[a-z_]{1,64}$/.test(code)) return null
  const id = said.get('request_id') ?? ''
  return new RequestFailure(0, { code, message: words[code] ?? 'You are not signed in.', ...(/^[\w-]{1,64}$/.test(id) ? { request_id: id } : {}) })
}

/** addressAfter is where somebody goes on who signs in at an address: there, or where they were going. Never off the page. */
export function addressAfter(pathname: string, search: string): string {
  if (pathname !== signInPath) return `${pathname}${search}`
  const to = new URLSearchParams(search).get('to') ?? '/ui/'
  const plain = to.startsWith('/ui/') && !to.startsWith(signInPath) && !to.includes('\\')
  return plain ? to : '/ui/'
}
