import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, visit } from './browser'
import { furnish, type Furnished } from './everyPage'
import { Server } from './server'

// Nothing here uses the mouse, and nothing is focused by the test: what can't be reached by keys is not there.

let server: Server
let browser: Browser
let furnished: Furnished

beforeAll(async () => {
  server = await Server.start(['guards = hold'])
  browser = await openBrowser()
  furnished = await furnish(server)
})

afterAll(async () => {
  await browser?.close()
  await server?.remove()
})

interface Focus {
  role: string
  name: string
}

/** focus is what has the focus: its role or tag, and its name or what it says. */
function focus(page: Page): Promise<Focus> {
  return page.evaluate(() => {
    const here = document.activeElement ?? document.body
    const labels = 'labels' in here ? [...((here as HTMLInputElement).labels ?? [])] : []
    const name = here.getAttribute('aria-label') ?? (labels[0]?.querySelector('span') ?? labels[0])?.textContent ?? here.textContent ?? ''
    return { role: here.getAttribute('role') ?? here.tagName.toLowerCase(), name: name.trim() }
  })
}

/** tabTo presses Tab until what has the focus is called so. */
async function tabTo(page: Page, name: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  const seen: string[] = []
  for (let presses = 0; presses < 150; presses++) {
    await page.keyboard.press(key)
    const here = await focus(page)
    // A panel is reached too, and says all that is in it.
    if (here.role === 'tabpanel') continue
    if (typeof name === 'string' ? here.name === name : name.test(here.name)) return
    seen.push(`${here.role} ${here.name.slice(0, 40)}`)
  }
  throw new Error(`Tab does not come to ${String(name)}: ${seen.join(', ')}`)
}

const focused = (page: Page, name: string | RegExp) => expect.poll(async () => (await focus(page)).name).toMatch(name)

/** signedIn opens an address as somebody who types their key. */
async function signedIn(path = '/'): Promise<Page> {
  const { page } = await visit(browser, server, path)
  await page.getByLabel('Key').waitFor()
  await tabTo(page, 'Key')
  await page.keyboard.insertText(server.key)
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Holdfast' }).waitFor()
  return page
}

test('somebody finds a state in the tree, and reads a difference of it', async () => {
  const page = await signedIn()
  await page.getByRole('heading', { name: 'Recent runs' }).waitFor()
  await tabTo(page, 'States')
  await page.keyboard.press('Enter')
  await page.getByRole('table', { name: 'States' }).waitFor()
  await tabTo(page, /prod\/ \d/)
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-expanded'))).toBe('false')
  await page.keyboard.press('Enter')
  await tabTo(page, 'network')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Version 2, and the one before it' }).waitFor()
  // The link went with the page that it was on, and Tab goes on in the one that came.
  expect(await page.evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true)
  await tabTo(page, 'Compare version 1 with 2')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Version 2, compared with 1' }).waitFor()
  await tabTo(page, 'Versions', 'Shift+Tab')
  for (const tab of ['Resources', 'Graph', 'Outputs']) {
    await page.keyboard.press('ArrowRight')
    await focused(page, tab)
  }
  await page.keyboard.press('Enter')
  await page.getByText('greeting').waitFor()
  await tabTo(page, 'Show sensitive values')
  await page.keyboard.press('Enter')
  await page.getByText('correct horse').first().waitFor()
  await page.context().close()
})

test('the first key of all skips to the page', async () => {
  const page = await signedIn('/runs')
  await page.getByRole('table', { name: 'Runs' }).waitFor()
  await page.reload()
  await page.getByRole('table', { name: 'Runs' }).waitFor()
  await page.keyboard.press('Tab')
  expect((await focus(page)).name).toBe('Skip to the page')
  await page.keyboard.press('Enter')
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN')
  await page.keyboard.press('Tab')
  expect((await focus(page)).name).toBe('Workspace')
  expect(new URL(page.url()).pathname).toBe('/ui/runs')
  await page.context().close()
})

test('a search opens with / and with Ctrl-K, also in the editor, and gives the focus back', async () => {
  const page = await signedIn('/runs')
  await page.getByRole('table', { name: 'Runs' }).waitFor()
  await tabTo(page, 'Status')
  await page.keyboard.press('Control+k')
  await focused(page, 'Pages, states and runs')
  await page.keyboard.press('Escape')
  await focused(page, /^Status/)
  await page.keyboard.press('Control+k')
  await page.keyboard.insertText('audit')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/ui\/audit$/)
  await page.getByRole('heading', { name: 'Audit' }).waitFor()
  await page.keyboard.press('/')
  await focused(page, 'Pages, states and runs')
  await page.keyboard.insertText('prod net')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/ui\/states\/prod\/network$/)
  await page.goto('/ui/editor/prod/network')
  await page.getByTestId('code').locator('.view-lines').waitFor()
  await focused(page, /Escape leaves the text/)
  await page.keyboard.press('Control+k')
  await focused(page, 'Pages, states and runs')
  await page.keyboard.press('Escape')
  await focused(page, /Escape leaves the text/)
  await page.context().close()
})

/** trapped presses Tab many times, and has the focus stay in the dialog that is open; between its end and its beginning is the browser. */
async function trapped(page: Page): Promise<void> {
  for (let presses = 0; presses < 15; presses++) {
    await page.keyboard.press(presses % 3 === 2 ? 'Shift+Tab' : 'Tab')
    expect(await page.evaluate(() => document.activeElement === document.body || document.activeElement?.closest('dialog[open]') !== null)).toBe(true)
  }
}

const statusOf = async (run: string) => (await server.call<{ status: string }>('GET', `/api/v1/runs/${run}`)).status

test('somebody finds the plan that waits, reads it, approves it, and gives away a line of its log', async () => {
  const page = await signedIn()
  await page.getByRole('heading', { name: 'Recent runs' }).waitFor()
  await tabTo(page, /^Review/)
  await page.keyboard.press('Enter')
  await page.getByRole('list', { name: 'What the plan changes' }).waitFor()
  await tabTo(page, /terraform_data\.extra/)
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-expanded'))).toBe('false')

  await tabTo(page, 'Approve…', 'Shift+Tab')
  await page.keyboard.press('Enter')
  await focused(page, 'Reason, if you like')
  // The first Enter is a line in the reason, and no approval.
  await page.keyboard.press('Enter')
  await trapped(page)
  await page.keyboard.press('Escape')
  await focused(page, 'Approve…')
  expect(await statusOf(furnished.waiting)).toBe('awaiting_approval')
  await page.keyboard.press('a')
  await focused(page, 'Reason, if you like')
  await page.keyboard.insertText('looked at it')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await page.getByRole('main').getByText('succeeded').first().waitFor()

  await tabTo(page, /^Changes/)
  await page.keyboard.press('ArrowRight')
  await focused(page, 'Insight')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Findings (1)' }).waitFor()
  await page.keyboard.press('ArrowRight')
  await focused(page, 'Log')
  await page.keyboard.press('Enter')
  await page.getByText('Apply complete!').waitFor()
  await tabTo(page, 'Search the log')
  await page.keyboard.insertText('apply complete')
  await page.getByText('1 of 1').waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(/line=\d+/)
  await page.reload()
  await page.getByText('Apply complete!').waitFor()
  await tabTo(page, 'Log of the apply')
  await page.keyboard.press('Home')
  await page.getByRole('button', { name: 'Follow', exact: true }).waitFor()
  await page.context().close()
})

test('somebody writes, plans and applies in the editor, which keeps no key to itself', async () => {
  server.workspace('keys/one', { 'main.tf': '# first\n' })
  const page = await signedIn('/editor/keys/one')
  await page.getByTestId('code').locator('.view-lines').waitFor()
  await focused(page, /^main\.tf\. Escape leaves the text/)
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('resource "terraform_data" "one" { input = "a" }\n')
  await page.getByRole('status').filter({ hasText: 'main.tf saved' }).waitFor()

  await page.keyboard.press('Escape')
  await focused(page, /^Esc leaves the text/)
  await tabTo(page, 'Height of the console')
  const height = () => page.evaluate(() => Number(document.activeElement?.getAttribute('aria-valuenow')))
  const before = await height()
  await page.keyboard.press('ArrowUp')
  expect(await height()).toBeGreaterThan(before)
  await tabTo(page, 'Plan')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'What came out' }).getByText('+1 ~0 -0').waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Apply', exact: true }).isEnabled()).toBe(true)
  await tabTo(page, 'Apply')
  await page.keyboard.press('Enter')
  // The question comes by itself, some time later: what is typed then is no answer.
  const question = page.getByRole('dialog', { name: 'Apply this plan to keys/one?' })
  await question.waitFor()
  await focused(page, 'Reason')
  await page.keyboard.press('Enter')
  await trapped(page)
  await question.getByText('terraform_data.one').first().waitFor()
  expect(await question.isVisible()).toBe(true)
  await tabTo(page, 'Approve and apply')
  await page.keyboard.press('Enter')
  await page.getByRole('log').getByText('Apply complete!').waitFor()

  await tabTo(page, /Escape leaves the text/, 'Shift+Tab')
  await page.keyboard.press('Tab')
  await focused(page, /Escape leaves the text/)
  await page.keyboard.press('Control+m')
  await page.getByText('Tab moves the focus').waitFor()
  await page.keyboard.press('Tab')
  await focused(page, 'Height of the console')
  await page.context().close()
})

test('a menu opens, is gone through and closes by keys, and a question that it asks gives the focus back', async () => {
  server.workspace('keys/two', { 'main.tf': '# first\n' })
  const page = await signedIn('/editor/keys/two')
  await page.getByTestId('code').locator('.view-lines').waitFor()
  await focused(page, /Escape leaves the text/)
  await page.keyboard.press('Escape')
  await focused(page, /^Esc leaves the text/)
  await tabTo(page, 'main.tf: rename or delete', 'Shift+Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Rename…' }).waitFor()
  await page.keyboard.press('Escape')
  await focused(page, 'main.tf: rename or delete')
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Rename…' }).waitFor()
  await focused(page, 'Rename…')
  await page.keyboard.press('ArrowDown')
  await focused(page, 'Delete…')
  await page.keyboard.press('Enter')
  const question = page.getByRole('dialog', { name: 'Delete main.tf?' })
  await question.waitFor()
  await focused(page, 'Close')
  // A first Enter that was meant for something else takes nothing away.
  await page.keyboard.press('Enter')
  await question.waitFor({ state: 'hidden' })
  await focused(page, 'main.tf: rename or delete')
  expect(await server.text('/api/v1/workspaces/keys%2Ftwo/-/files/main.tf')).toBe('# first\n')

  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Rename…' }).waitFor()
  await page.keyboard.press('Enter')
  await focused(page, 'Path')
  await page.keyboard.press('End')
  await page.keyboard.insertText('x')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'main.tfx', exact: true }).first().waitFor()
  await page.context().close()
})

test('what is saved nowhere is asked about before somebody signs out', async () => {
  server.workspace('keys/three', { 'main.tf': '# first\n' })
  const page = await signedIn('/editor/keys/three')
  await page.getByTestId('code').locator('.view-lines').waitFor()
  await page.route('**/files/main.tf*', (route) => (route.request().method() === 'PUT' ? route.abort() : route.continue()))
  await focused(page, /Escape leaves the text/)
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('# second\n')
  await page.getByRole('alert').getByText('unreachable').waitFor()
  const signOut = async () => {
    await tabTo(page, /account and appearance/, 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor()
    await page.keyboard.press('End')
    await focused(page, 'Sign out')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Sign out without your changes?' }).getByText('A file that you have edited is not saved.').waitFor()
  }
  await page.keyboard.press('Escape')
  await focused(page, /^Esc leaves the text/)
  await signOut()
  await trapped(page)
  await tabTo(page, 'Stay')
  await page.keyboard.press('Enter')
  await focused(page, /account and appearance/)
  await page.keyboard.press('Tab')
  await signOut()
  await focused(page, 'Close')
  await tabTo(page, 'Sign out and drop it')
  await page.keyboard.press('Enter')
  await page.getByLabel('Key').waitFor()
  await expect.poll(() => page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('# second')
  await page.context().close()
})

test('a write that was kept back is promoted, and the backend block is copied', async () => {
  const state = (serial: number, resources: object[]) => ({ version: 4, serial, lineage: 'a', terraform_version: '1.12.6', outputs: {}, resources })
  const three = ['a', 'b', 'c'].map((name) => ({ mode: 'managed', type: 'null_resource', name, provider: 'provider["registry.opentofu.org/hashicorp/null"]', instances: [{ attributes: { id: name } }] }))
  await server.call('POST', '/api/v1/state/keys%2Fheld', state(1, three))
  await server.call('POST', '/api/v1/state/keys%2Fheld', state(2, [])).catch(() => undefined)
  const page = await signedIn('/states/keys/held?tab=candidates')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const candidate = page.getByRole('region', { name: /^Candidate/ })
  await candidate.getByText('a guard kept it back').waitFor()
  await tabTo(page, 'Promote…')
  await page.keyboard.press('Enter')
  await focused(page, 'Reason')
  // Without a reason nothing is promoted, whatever is pressed.
  await page.keyboard.press('Control+Enter')
  await page.keyboard.press('Enter')
  await trapped(page)
  expect(await page.getByRole('dialog', { name: 'Promote the candidate' }).isVisible()).toBe(true)
  await tabTo(page, 'Reason')
  await page.keyboard.insertText('it is gone indeed')
  await tabTo(page, 'Promote')
  await page.keyboard.press('Enter')
  await candidate.getByText('promoted').waitFor()
  expect((await server.call<{ resources: object[] }>('GET', '/api/v1/state/keys%2Fheld')).resources).toEqual([])

  await tabTo(page, 'Kept back', 'Shift+Tab')
  await page.keyboard.press('End')
  await focused(page, 'Use it')
  await page.keyboard.press('Enter')
  await tabTo(page, 'Copy the block')
  await page.keyboard.press('Enter')
  await page.getByText('Copied').waitFor()
  const block = await page.evaluate(() => navigator.clipboard.readText())
  expect(block).toContain(`address        = "${server.address}/api/v1/state/keys/held"`)
  expect(block).toContain(`username       = "${server.org}"`)
  expect(block).not.toContain(server.key)
  await page.context().close()
})

test('somebody goes from the list of layers to what its last commit came to, and from an enclave to a partition and a run', async () => {
  const page = await signedIn()
  await page.getByRole('heading', { name: 'Recent runs' }).waitFor()
  await tabTo(page, /^Layers/)
  await page.keyboard.press('Enter')
  await page.getByRole('table', { name: 'Layers' }).waitFor()
  await tabTo(page, 'Filter by name')
  await page.keyboard.insertText('app')
  await page.waitForURL(/q=app/)
  await tabTo(page, 'layered/app')
  await tabTo(page, 'Layers', 'Shift+Tab')
  await page.keyboard.press('ArrowRight')
  await focused(page, 'Drift')
  await page.keyboard.press('Enter')
  await page.getByText('No layer has drifted.').waitFor()
  // Each part of the map leads to what it counts.
  await tabTo(page, /^Checks are off/)
  await page.keyboard.press('Enter')
  const table = page.getByRole('table', { name: 'Layers' })
  await table.waitFor()
  await page.keyboard.press('j')
  await focused(page, 'layered/app')
  await page.keyboard.press('o')
  await page.waitForURL(/\/layers\/layered\/app$/)
  await page.getByRole('table', { name: 'Conditions of the layer' }).waitFor()
  await tabTo(page, 'Conditions')
  await page.keyboard.press('ArrowRight')
  await focused(page, 'Commits')
  await page.keyboard.press('Enter')
  await page.getByText('planned last').first().waitFor()
  await page.keyboard.press('End')
  await focused(page, 'Settings')
  await page.keyboard.press('Enter')
  await page.getByText('Remediation').first().waitFor()

  await tabTo(page, /^Enclaves/, 'Shift+Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('table', { name: 'Enclaves' }).waitFor()
  await page.keyboard.press('j')
  await focused(page, 'shop')
  await page.keyboard.press('o')
  await page.getByRole('table', { name: 'Partitions' }).waitFor()
  await tabTo(page, 'Reconcile')
  await tabTo(page, 'db', 'Shift+Tab')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/states\/shop\/db$/)
  await page.context().close()
})
