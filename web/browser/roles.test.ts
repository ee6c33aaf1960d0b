import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enter, openBrowser } from './browser'
import { everyPage, furnish, type Furnished } from './everyPage'
import { Server } from './server'

let server: Server
let browser: Browser
let furnished: Furnished
let candidate: string

beforeAll(async () => {
  server = await Server.start()
  browser = await openBrowser()
  furnished = await furnish(server)
  candidate = await furnishMore()
})

afterAll(async () => {
  await browser?.close()
  await server?.remove()
})

const roles = ['reader', 'writer', 'operator', 'approver', 'auditor', 'outputs', 'uploader']

/** The pages of the frame's list, with the right that each needs. */
const listed: Record<string, string | undefined> = { Home: undefined, States: 'state:metadata', Runs: 'run:read', Layers: 'workspace:read', Enclaves: 'workspace:read', Resources: 'state:read', Files: 'workspace:read', Audit: 'audit:read', Settings: undefined }

/** Offer is something that the page offers to who may, and the request that does it. */
interface Offer {
  path: string
  button: string | RegExp
  right: string
  request: [method: string, path: string, body?: object]
}

function offers({ waiting, failed }: Furnished, candidate: string): Offer[] {
  const run = `/api/v1/runs/${waiting}`
  const state = '/api/v1/state/prod%2Fnetwork/-'
  const plan = { workspace: 'prod/network', kind: 'plan' }
  return [
    { path: `/runs/${waiting}`, button: 'Approve…', right: 'run:approve run:apply', request: ['POST', `${run}/approve`, { digest: 'sha256:0' }] },
    { path: `/runs/${waiting}`, button: 'Deny…', right: 'run:approve', request: ['POST', `${run}/deny`, { digest: 'sha256:0', reason: 'no' }] },
    { path: `/runs/${waiting}`, button: 'Discard…', right: 'run:cancel', request: ['POST', `${run}/discard`, {}] },
    { path: `/runs/${failed}`, button: 'Run again', right: 'run:plan', request: ['POST', `/api/v1/runs/${failed}/retry`] },
    { path: '/states/prod/network', button: 'Release…', right: 'state:unlock', request: ['POST', `${state}/lock/release`, { reason: 'none' }] },
    { path: '/states/prod/network?version=1', button: 'Roll back to 1…', right: 'state:write', request: ['POST', `${state}/versions/1/rollback`, { reason: 'none' }] },
    { path: '/states/prod/kept', button: 'Delete…', right: 'state:write', request: ['DELETE', '/api/v1/state/prod%2Fkept'] },
    { path: '/states/prod/kept?tab=candidates', button: 'Promote…', right: 'state:write', request: ['POST', `/api/v1/state/prod%2Fkept/-/candidates/${candidate}/promote`, { reason: 'none' }] },
    { path: '/states/prod/kept?tab=candidates', button: 'Discard…', right: 'state:write', request: ['POST', `/api/v1/state/prod%2Fkept/-/candidates/${candidate}/discard`, { reason: 'none' }] },
    { path: '/states/prod/network?tab=outputs', button: 'Show sensitive values', right: 'state:outputs', request: ['GET', `${state}/outputs?sensitive=true`] },
    { path: '/files', button: 'New workspace', right: 'workspace:write', request: ['POST', '/api/v1/workspaces', { name: 'x/y', tool: 'opentofu', version: '1.12.6' }] },
    { path: '/editor/prod/network', button: 'New file', right: 'workspace:write', request: ['PUT', '/api/v1/workspaces/prod%2Fnetwork/-/files/x.tf', {}] },
    { path: '/editor/prod/network', button: 'Upload', right: 'workspace:write', request: ['DELETE', '/api/v1/workspaces/prod%2Fnetwork/-/files/x.tf'] },
    { path: '/editor/prod/network', button: 'Plan', right: 'run:plan', request: ['POST', '/api/v1/runs', plan] },
    { path: '/editor/prod/network', button: 'Apply', right: 'run:apply', request: ['POST', '/api/v1/runs', { ...plan, kind: 'apply' }] },
    { path: '/layers/layered/app', button: 'Plan now', right: 'run:plan', request: ['POST', '/api/v1/layers/layered%2Fapp/-/sync'] },
    { path: '/layers/layered/app', button: 'Check for drift', right: 'run:plan', request: ['POST', '/api/v1/layers/layered%2Fapp/-/check'] },
    { path: '/layers?tab=repositories', button: 'Fetch now infra', right: 'repository:write', request: ['POST', '/api/v1/repositories/infra/fetch'] },
    { path: '/settings?tab=keys', button: 'Make a key', right: 'key:manage', request: ['POST', '/api/v1/keys', { name: 'x', role: 'owner' }] },
    { path: '/settings?tab=kept', button: 'Change…', right: 'organization:manage', request: ['PATCH', '/api/v1/organization', { version: '', settings: [] }] },
    { path: '/settings?tab=policies', button: 'Make a bundle', right: 'policy:manage', request: ['DELETE', '/api/v1/policies/none'] },
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

/** furnishMore has a lock to be released and a write that was kept back. */
async function furnishMore(): Promise<string> {
  const body = { version: 4, serial: 1, lineage: 'a', terraform_version: '1.12.6', outputs: {}, resources: [] }
  await server.call('POST', '/api/v1/state/prod%2Fnetwork/-/lock', { ID: 'a', Operation: 'OperationTypeApply', Who: 'bob@laptop' })
  await server.call('POST', '/api/v1/state/prod%2Fkept', body)
  return (await server.call<{ id: string }>('POST', '/api/v1/state/prod%2Fkept/-/candidates?reason=lost', { ...body, serial: 7 })).id
}

/** shape is what a page has of its frame, its tabs and its failures. */
function shape(page: Page): Promise<{ places: string[]; tabs: string[]; refused: boolean; text: string }> {
  return page.evaluate(() => {
    const texts = (selector: string) => [...document.querySelectorAll(selector)].map((one) => one.textContent ?? '')
    return { places: texts('nav[aria-label="Pages"] a'), tabs: texts('main [role="tab"]'), refused: document.querySelector('main [role="alert"]') !== null, text: document.querySelector('main')?.textContent ?? '' }
  })
}

test('who looks after the organization is offered all of it', async () => {
  const { page } = await enter(browser, server)
  for (const offer of offers(furnished, candidate)) {
    await settled(page, offer.path)
    await page.getByRole('main').getByRole('button', { name: offer.button, exact: true }).first().waitFor()
  }
  await page.context().close()
})

test.each(roles)('a key of the role %s sees every page that it may, is offered what it may, and what it may not is refused', async (role) => {
  const { page, complaints } = await enter(browser, server, '/', { key: await server.keyOf(role) })
  const rights = await page.evaluate(async () => ((await (await fetch('/api/v1/whoami')).json()) as { rights: string[] }).rights)
  const has = (right: string | undefined) => right === undefined || right.split(' ').some((one) => rights.includes(one))
  const places = Object.keys(listed).filter((name) => has(listed[name]))
  for (const place of everyPage(furnished)) {
    const where = `${role} at ${place.name}`
    const mayName = has('state:metadata') || !place.path.startsWith('/states/')
    await settled(page, place.path)
    if (has(place.right) && mayName && (place.name !== 'home' || has('run:read'))) {
      // A page that may be seen has what it is for, and refuses nothing.
      await page.getByRole('main').getByText(place.text).filter({ visible: true }).first().waitFor()
      expect((await shape(page)).refused, where).toBe(false)
    }
    const { places: shown, tabs, text } = await shape(page)
    expect(shown, where).toEqual(places)
    if (has(place.right)) continue
    if (place.tab) expect(tabs.filter((tab) => tab.startsWith(place.tab!)), where).toEqual([])
    // Its data are refused, whatever the page makes of that.
    if (place.data) {
      const { status, code } = await asked(page, ['GET', place.data])
      expect([status, code], `${where}: ${place.data}`).toEqual([403, 'right_missing'])
    }
    if (place.name !== 'state' && place.name !== 'events') expect(text, where).not.toMatch(/correct horse|jsonencode/)
  }
  for (const offer of offers(furnished, candidate)) {
    const where = `${role} at ${offer.path}: ${String(offer.button)}`
    await settled(page, offer.path)
    if (has(offer.right)) {
      // It may, but not where the page itself is none of its business.
      const shownOn = everyPage(furnished).find(({ path }) => path === offer.path.replace(/\?.*/, '') || path === offer.path)
      if (has(shownOn?.right)) await page.getByRole('main').getByRole('button', { name: offer.button, exact: true }).first().waitFor()
      continue
    }
    expect(await sees(page, offer), where).toBe(0)
    const { status, code } = await asked(page, offer.request)
    expect([status, code], `${where}: ${offer.request.slice(0, 2).join(' ')}`).toEqual([403, 'right_missing'])
  }
  expect(complaints).toEqual([])
  await page.context().close()
})
