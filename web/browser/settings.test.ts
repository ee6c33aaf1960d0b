import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { violations } from './accessible'
import { enter, openBrowser } from './browser'
import { Server } from './server'

let server: Server
let browser: Browser

beforeAll(async () => {
  server = await Server.start()
  browser = await openBrowser()
})

afterAll(async () => {
  await browser?.close()
  await server?.remove()
})

/** secret is what a dialog shows once; it goes when somebody says that they have it. */
async function secret(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Copy it now: it is shown this once.').waitFor()
  const text = await dialog.locator('code').first().innerText()
  await dialog.getByRole('button', { name: 'I have it' }).click()
  await dialog.waitFor({ state: 'detached' })
  return text
}

/** may says how the server answers to a key. */
async function answerTo(key: string): Promise<number> {
  return (await fetch(`${server.address}/api/v1/whoami`, { headers: { 'X-API-Key': key, 'X-Org-ID': server.org } })).status
}

/** pick opens a menu and takes what it has of a name. */
async function pick(page: Page, menu: string, item: string): Promise<void> {
  await page.getByRole('button', { name: menu }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

/** typed types a name into the dialog that asks for it, which does nothing without. */
async function typed(page: Page, name: string, verb: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  const button = dialog.getByRole('button', { name: verb, exact: true })
  expect(await button.isDisabled()).toBe(true)
  await dialog.getByLabel(`Type ${name} to go on`).fill(name)
  await button.click()
  await dialog.waitFor({ state: 'detached' })
}

test('a key is made, shown once, rotated and revoked, and the audit log has each', async () => {
  const { page, complaints } = await enter(browser, server, '/settings?tab=keys')
  await page.getByRole('button', { name: 'Make a key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('ci')
  await dialog.getByLabel('Role').selectOption('writer')
  await dialog.getByRole('textbox', { name: 'States' }).fill('prod/* shared/network')
  expect(await violations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Make it' }).click()
  const first = await secret(page)
  expect(await answerTo(first)).toBe(200)
  await page.getByText('prod/* shared/network').waitFor()

  await pick(page, 'ci: rotate or revoke', 'Rotate')
  const second = await secret(page)
  expect([second === first, await answerTo(first), await answerTo(second)]).toEqual([false, 200, 200])

  await pick(page, 'ci: rotate or revoke', 'Revoke…')
  await typed(page, 'ci', 'Revoke')
  await page.getByRole('button', { name: 'ci: rotate or revoke' }).waitFor({ state: 'detached' })
  expect([await answerTo(first), await answerTo(second)]).toEqual([200, 401])
  expect(await page.content()).not.toContain(second)

  await page.goto('/ui/audit?action=key.revoke')
  await page.getByRole('row').filter({ hasText: 'key.revoke' }).waitFor()
  await page.goto('/ui/audit')
  for (const action of ['key.make', 'key.rotate', 'key.revoke', 'session.begin']) await page.getByRole('row').filter({ hasText: action }).first().waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})

test('a pool is made, serves other workspaces, gets another token and goes, and its agents stand in it', async () => {
  const { page, complaints } = await enter(browser, server, '/settings?tab=pools')
  await page.getByText('There is no pool yet.').waitFor()
  await page.getByRole('button', { name: 'Make a pool' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('eu')
  await page.getByRole('dialog').getByRole('button', { name: 'Make it' }).click()
  const token = await secret(page)
  await page.getByText('No agent has registered yet.').waitFor()

  await pick(page, 'eu: change, rotate or remove', 'What it serves…')
  await page.getByRole('dialog').getByLabel('Workspaces').fill('prod/*')
  await page.getByRole('dialog').getByRole('button', { name: 'Change it' }).click()
  await page.getByRole('region', { name: 'Pool eu' }).getByText('prod/*').waitFor()

  await pick(page, 'eu: change, rotate or remove', 'Another token')
  expect(await secret(page)).not.toBe(token)
  expect(await violations(page)).toEqual([])

  await pick(page, 'eu: change, rotate or remove', 'Remove…')
  await typed(page, 'eu', 'Remove')
  await page.getByText('There is no pool yet.').waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})

test('the organization says who one is and what it may store, and sessions are ended one by one', async () => {
  const other = await enter(browser, server)
  const { page } = await enter(browser, server, '/settings')
  await page.getByText('Quotas and limits').waitFor()
  await page.getByText(server.org).first().waitFor()
  await page.getByRole('tab', { name: 'Your sessions' }).click()
  expect(new URL(page.url()).search).toBe('?tab=sessions')
  const rows = page.getByRole('table', { name: 'Sessions' }).getByRole('row')
  const others = rows.filter({ has: page.getByRole('button', { name: 'Sign out', exact: true }) }).filter({ hasNotText: 'This one' })
  await others.first().waitFor()
  const before = await others.count()
  await others.first().getByRole('button', { name: 'Sign out', exact: true }).click()
  await others.nth(before - 1).waitFor({ state: 'detached' })
  expect(await others.count()).toBe(before - 1)
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByLabel('Key', { exact: true }).waitFor()
  await other.page.reload()
  await other.page.getByLabel('Key', { exact: true }).waitFor()
  await page.context().close()
  await other.page.context().close()
})

test('a bundle of policies, waivers and prices is made, refused with file and line, edited and removed', async () => {
  const { page, complaints } = await enter(browser, server, '/settings?tab=policies')
  await page.getByRole('button', { name: 'Make a bundle' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('baseline')
  await dialog.getByLabel('A plan that it denies').selectOption('hold')
  const good = await dialog.getByLabel('Text', { exact: true }).inputValue()
  await dialog.getByLabel('Text', { exact: true }).fill(`${good}\ndeny contains`)
  await dialog.getByRole('button', { name: 'Push it' }).click()
  await dialog.getByText(/policy\.rego:\d+/).first().waitFor()
  await dialog.getByLabel('Text', { exact: true }).fill(good)
  await dialog.getByRole('button', { name: 'Add waivers' }).click()
  await dialog.getByRole('button', { name: 'Add prices' }).click()
  expect(await dialog.getByLabel('Name of the file').inputValue()).toBe('prices.csv')
  expect(await violations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Push it' }).click()
  await dialog.waitFor({ state: 'detached' })
  const row = page.getByRole('row').filter({ hasText: 'baseline' })
  await row.getByText('hold').waitFor()
  const made = await server.call<{ contents: { path: string }[] }>('GET', '/api/v1/policies/baseline')
  expect(made.contents.map(({ path }) => path).sort()).toEqual(['policy.rego', 'prices.csv', 'waivers.yaml'])

  await pick(page, 'baseline: edit or remove', 'Edit…')
  await dialog.getByRole('combobox', { name: /^File/ }).selectOption('prices.csv')
  await dialog.getByRole('button', { name: 'Take this file out' }).click()
  await dialog.getByLabel('A plan that it denies').selectOption('refuse')
  await dialog.getByRole('button', { name: 'Push it' }).click()
  await dialog.waitFor({ state: 'detached' })
  await row.getByText('refuse').waitFor()
  expect(await server.call<object>('GET', '/api/v1/policies/baseline')).toMatchObject({ policy: { version: 2, files: 2, enforce: 'refuse' } })

  await pick(page, 'baseline: edit or remove', 'Remove…')
  await typed(page, 'baseline', 'Remove')
  await page.getByText('There is no bundle yet.').waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})

test('what auth.cfg says is shown, changed, and what two people change at once overwrites nothing unseen', async () => {
  const { page, complaints } = await enter(browser, server, '/settings')
  await page.getByRole('tab', { name: 'How states are kept' }).click()
  expect(new URL(page.url()).search).toBe('?tab=kept')
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  await row('keep_versions').getByText('the default').waitFor()
  await page.getByText('Nothing is said otherwise of some states.').waitFor()
  await page.getByText('entries are kept for ever').waitFor()
  const read = await server.call<{ version: string }>('GET', '/api/v1/organization')

  await page.getByRole('button', { name: 'Change…' }).click()
  const dialog = page.getByRole('dialog')
  const change = dialog.getByRole('button', { name: 'Change it' })
  expect(await change.isDisabled()).toBe(true)
  await dialog.getByLabel('A silent lock can be taken over after').fill('soon')
  await change.click()
  await dialog.getByText('setting_invalid').waitFor()
  expect(await violations(page)).toEqual([])
  await dialog.getByLabel('A silent lock can be taken over after').fill('24h')

  // Somebody else is first: their guards stay, and are shown beside.
  await server.call('PATCH', '/api/v1/organization', { version: read.version, settings: [{ name: 'guards', value: 'hold' }] })
  await change.click()
  await dialog.getByText('settings_changed').waitFor()
  await dialog.getByText(/Somebody else has made it hold/).waitFor()
  await dialog.getByRole('button', { name: 'I have seen it' }).click()
  await change.click()
  await dialog.waitFor({ state: 'detached' })
  await row('lock_ttl').getByText('24h').waitFor()
  await row('guards').first().getByText('hold: keep it back').waitFor()

  // To keep less than before takes the organization's name.
  await page.getByRole('button', { name: 'Change…' }).click()
  await dialog.getByLabel('Versions that are kept').fill('20')
  const { org_name: name } = await server.call<{ org_name: string }>('GET', '/api/v1/whoami')
  await typed(page, name, 'Change it')
  await row('keep_versions').getByText('20', { exact: true }).waitFor()
  const { settings } = await server.call<{ settings: { name: string; value: string }[] }>('GET', '/api/v1/organization')
  expect(Object.fromEntries(settings.map((one) => [one.name, one.value]))).toMatchObject({ keep_versions: '20', guards: 'hold', lock_ttl: '24h', keep_days: 'off' })
  await page.goto('/ui/audit?action=organization.change')
  await page.getByText('keep_versions: the default (off) to 20').waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})
