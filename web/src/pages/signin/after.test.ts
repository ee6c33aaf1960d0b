import { expect, test } from 'vitest'
import { addressAfter, refusedBy } from './after'

test.each([
  ['/ui/states/prod', '?tab=versions', '/ui/states/prod?tab=versions'],
  ['/ui/sign-in', '?error=token_refused&to=%2Fui%2Fruns%3Fstatus%3Dfailed', '/ui/runs?status=failed'],
  ['/ui/sign-in', '', '/ui/'],
  ['/ui/sign-in', '?to=https%3A%2F%2Fevil.example.com', '/ui/'],
  ['/ui/sign-in', '?to=%2Fui%2Fsign-in', '/ui/'],
])('%s%s goes on to %s', (path, search, to) => {
  expect(addressAfter(path, search)).toBe(to)
})

test('a failed sign-in with an issuer says what and which request', () => {
  expect(refusedBy('?error=token_refused&request_id=1-2')).toMatchObject({ code: 'token_refused', requestID: '1-2' })
  expect(refusedBy('?error=%3Cb%3E')).toBeNull()
  expect(refusedBy('')).toBeNull()
})
