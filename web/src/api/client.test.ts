import { expect, test } from 'vitest'
import { newQueryClient, otherKey } from './client'
import { RequestFailure } from './failure'
import { nameOf, named, SignedIn } from './signedIn'
import type { Identity } from './types'

const diff = ['state', 'prod/network', 'diff', 41, null]

function who(org: string, key: string): Identity {
  return { org_id: org, org_name: org, key_id: key, key_name: '', subject: '', role: 'admin', rights: [], states: null, expires: null, limits: { rate_limit: null, state_rate_limit: null }, address: '' }
}

/** signedIn is a cache in which somebody has read a state. */
function signedIn() {
  const client = newQueryClient()
  client.setQueryData(['identity'], who('a', '1'))
  client.setQueryData(diff, 'of a')
  return client
}

test('a session that has ended leaves nothing of what was read', async () => {
  const client = signedIn()
  const refused = client.fetchQuery({ queryKey: ['states'], queryFn: () => Promise.reject(new RequestFailure(401, {})) })
  await expect(refused).rejects.toThrow()
  expect(client.getQueryData(['identity'])).toBeNull()
  expect(client.getQueryData(diff)).toBeUndefined()
})

test('an answer that comes after the session has ended is not kept', async () => {
  const client = signedIn()
  let answer: (text: string) => void = () => undefined
  const asked = client.fetchQuery({ queryKey: diff, queryFn: () => new Promise<string>((resolve) => { answer = resolve }) }).catch(() => 'cancelled')
  client.setQueryData(['identity'], null)
  answer('of a')
  await asked
  expect(client.getQueryData(diff)).toBeUndefined()
})

test.each([who('b', '2'), who('a', '2'), null])('what one has read is not there for the next one', (next) => {
  const client = signedIn()
  client.setQueryData(['identity'], next)
  expect(client.getQueryData(diff)).toBeUndefined()
  expect(client.getQueryData(['identity'])).toEqual(next)
})

test('the same one asked for again keeps what was read', () => {
  const client = signedIn()
  client.setQueryData(['identity'], who('a', '1'))
  expect(client.getQueryData(diff)).toBe('of a')
})

test('a tab that shows one who is not signed in any more says so', async () => {
  const client = signedIn()
  expect(client.getQueryData(otherKey)).toBeUndefined()
  const refused = client.fetchQuery({ queryKey: ['states'], queryFn: () => Promise.reject(new RequestFailure(403, { code: 'signed_in_as_other' })) })
  await expect(refused).rejects.toThrow()
  expect(client.getQueryData(otherKey)).toBe(true)
})

test('so does one that learns it by asking who it is; not one that has signed in itself', () => {
  const other = signedIn()
  other.setQueryData(['identity'], who('b', '2'))
  expect(other.getQueryData(otherKey)).toBe(true)
  const self = signedIn()
  self.setQueryData(['identity'], null)
  self.setQueryData(['identity'], who('b', '2'))
  expect(self.getQueryData(otherKey)).toBeUndefined()
})

test('each request names whom the page shows, but not the one that asks who that is', () => {
  const shown = new SignedIn()
  shown.holder = nameOf({ ...who('a', 'oidc.people'), subject: 'ana/ü' })
  const header = (path: string) => named(new Request(`http://holdfast.example${path}`), shown).headers.get('Holdfast-Signed-In')
  expect(header('/api/v1/states')).toBe('a/oidc.people/ana%2F%C3%BC')
  expect(header('/api/v1/whoami')).toBeNull()
})
