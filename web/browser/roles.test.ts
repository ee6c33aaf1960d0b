import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enter, openBrowser } from './browser'
import { everyPage, furnish, type Furnished } from './everyPage'
import { Server } from './server'

let server: Server
let browser: Browser
let furnished: Furnished

beforeAll(async () => {
  server = await Server.start()
  browser = await openBrowser()
  furnished = await furnish(server)
})

afterAll(async () => {
  await browser?.close()
  await server?.remove()
})

const roles = ['reader', 'writer', 'operator', 'approver', 'auditor', 'outputs', 'uploader']

/** Offer is something that the page offers to who may, and the request that does it. */
interface Offer {
  path: string
  button: string | RegExp
  right: string
  request: [method: string, path: string, body?: object]
}

function offers({ waiting }: Furnished): Offer[] {
  const run = `/api/v1/runs/${waiting}`
  const state = '/api/v1/state/prod%2Fnetwork/-'
  return [
    { path: `/runs/${waiting}`, button: 'Approve…', right: 'run:approve run:apply', request: ['POST', `${run}/approve`, { digest: 'sha256:0' }] },
    { path: `/runs/${waiting}`, button: 'Discard…', right: 'run:cancel', request: ['POST', `${run}/discard`, {}] },
    { path: '/states/prod/network', button: 'Release…', right: 'state:unlock', request: ['POST', `${state}/lock/release`, { reason: 'none' }] },
    { path: '/states/prod/network?version=1', button: 'Roll back to 1…', right: 'state:write', request: ['POST', `${state}/versions/1/rollback`, { reason: 'none' }] },
    { path: '/states/prod/network?tab=outputs', button: 'Show sensitive values', right: 'state:outputs', request: ['GET', `${state}/outputs?sensitive=true`] },
    { path: '/files', button: 'New workspace', right: 'workspace:write', request: ['POST', '/api/v1/workspaces', { name: 'x/y', tool: 'opentofu', version: '1.12.6' }] },
    { path: '/editor/prod/network', button: 'New file', right: 'workspace:write', request: ['PUT', '/api/v1/workspaces/prod%2Fnetwork/-/files/x.tf', {}] },
    { path: '/editor/prod/network', button: 'Plan', right: 'run:plan', request: ['POST', '/api/v1/runs', { workspace: 'prod/network', kind: 'plan' }] },
    { path: '/settings?tab=keys', button: 'Make a key', right: 'key:manage', request: ['POST', '/api/v1/keys', { name: 'x', role: 'owner' }] },
    { path: '/settings?tab=pools', button: 'Make a pool', right: 'agent:manage', request: ['POST', '/api/v1/pools', { name: 'x', workspaces: ['**'] }] },
  ]
}

/** settled goes to a page, as a link does where it can, and waits until there is nothing more to read. */
async function settled(page: Page, path: string): Promise<void> {
  // The editor has a document of its own.
  const apart = (url: string) => url.includes('/ui/editor/')
  if (apart(page.url()) || apart(`/ui${path}`)) await page.goto(`/ui${path}`)
  else await page.evaluate((to) => { window.history.pushState({}, '', to) }, `/ui${path}`)
  await page.waitForFunction(() => document.querySelector('[aria-label^="Loading "]') === null && (document.querySelector('main')?.innerText.trim() ?? '') !== '')
}

/** asked sends a request as the page would, with its cookie, and returns how it was answered. */
function asked(page: Page, [method, path, body]: Offer['request']): Promise<{ status: number; code: string }> {
  return page.evaluate(async ([method, path, body]) => {
    const answer = await fetch(path, { method, ...(body ? { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } } : {}) })
    const text = await answer.text()
    return { status: answer.status, code: text.startsWith('{') ? ((JSON.parse(text) as { code?: string }).code ?? '') : '' }
  }, [method, path, body] as const)
}

const sees = (page: Page, { button }: Offer) => page.getByRole('main').getByRole('button', { name: button, exact: true }).count()

test('who looks after the organization is offered all of it', async () => {
  await server.call('POST', '/api/v1/state/prod%2Fnetwork/-/lock', { ID: 'a', Operation: 'OperationTypeApply', Who: 'bob@laptop' })
  const { page } = await enter(browser, server)
  for (const offer of offers(furnished)) {
    await settled(page, offer.path)
    await page.getByRole('main').getByRole('button', { name: offer.button, exact: true }).first().waitFor()
  }
  await page.context().close()
})

test.each(roles)('a key of the role %s is offered what it may, and what it may not is refused', async (role) => {
  const { page, complaints } = await enter(browser, server, '/', { key: await server.keyOf(role) })
  const rights = await page.evaluate(async () => ((await (await fetch('/api/v1/whoami')).json()) as { rights: string[] }).rights)
  for (const place of everyPage(furnished)) {
    await settled(page, place.path)
    const listed = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()
    expect(listed.includes('Audit'), `${role} at ${place.name}`).toBe(rights.includes('audit:read'))
    if (place.right === undefined || rights.includes(place.right)) continue
    // What a page without its right shows is a refusal, or another part of it; never what it is for.
    const shown = await page.getByRole('main').textContent()
    if (place.name !== 'state' && place.name !== 'events') expect(shown, `${role} at ${place.name}`).not.toMatch(/correct horse|jsonencode/)
  }
  for (const offer of offers(furnished)) {
    const may = offer.right.split(' ').some((right) => rights.includes(right))
    if (may) continue
    await settled(page, offer.path)
    expect(await sees(page, offer), `${role} at ${offer.path}: ${String(offer.button)}`).toBe(0)
    const { status, code } = await asked(page, offer.request)
    expect([status, code], `${role}: ${offer.request.slice(0, 2).join(' ')}`).toEqual([403, 'right_missing'])
  }
  expect(complaints).toEqual([])
  await page.context().close()
})
