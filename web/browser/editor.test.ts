import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enter, openBrowser, picture, signIn, visit } from './browser'
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

async function editor(workspace: string): Promise<{ page: Page; complaints: string[] }> {
  const open = await visit(browser, server, `/editor/${workspace}`)
  await signIn(open.page, server.key)
  await open.page.getByRole('navigation', { name: 'Files' }).waitFor()
  return open
}

/** write puts a text in the place of all that the editor has, by keyboard. */
async function write(page: Page, text: string): Promise<void> {
  await page.getByTestId('code').locator('.view-lines').click()
  await page.keyboard.press('ControlOrMeta+A')
  // As a paste comes: an editor of code completes brackets that are typed.
  await page.keyboard.insertText(text)
}

const saved = (page: Page, path: string) => page.getByRole('status').filter({ hasText: `${path} saved` }).waitFor()
const content = (workspace: string, path: string) => server.text(`/api/v1/workspaces/${encodeURIComponent(workspace)}/-/files/${path}`)

test('somebody writes main.tf, which saves itself, plans, reads the changes, and applies', async () => {
  server.holdfast(['workspace', 'create', 'prod/new', '--tool', 'opentofu', '--version', '1.12.6'])
  const { page, complaints } = await editor('prod/new')
  await page.getByText('There are no files yet.').waitFor()
  await page.getByRole('button', { name: 'New file' }).click()
  await page.getByLabel('Path').fill('main.tf')
  await page.keyboard.press('Enter')
  await page.getByTestId('code').locator('.view-lines').waitFor()
  const text = 'resource "terraform_data" "network" { input = "<img src=x onerror=alert(1)>" }'
  await write(page, text)
  await saved(page, 'main.tf')
  expect(await content('prod/new', 'main.tf')).toBe(text)

  await page.getByRole('button', { name: 'Plan', exact: true }).click()
  const out = page.getByRole('region', { name: 'What came out' })
  await out.getByText('+1 ~0 -0').waitFor()
  await out.getByText('"<img src=x onerror=alert(1)>"').waitFor()
  await page.getByRole('log').getByText('Plan: 1 to add').waitFor()

  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  const question = page.getByRole('dialog')
  await question.getByText('terraform_data.network').waitFor()
  await question.getByRole('button', { name: 'Approve and apply' }).click()
  await page.getByRole('region', { name: 'Console' }).getByRole('status').getByText('succeeded').waitFor()
  await page.getByRole('log').getByText('Apply complete!').waitFor()
  expect(complaints).toEqual([])
})

test('somebody makes a workspace with a name alone, and is offered the versions that there are', async () => {
  const { page, complaints } = await enter(browser, server, '/files')
  await page.getByRole('button', { name: 'New workspace' }).click()
  const version = page.getByRole('combobox', { name: 'Version' })
  await version.getByRole('option', { name: 'newest installed (1.12.6)' }).waitFor({ state: 'attached' })
  expect(await version.getByRole('option').allTextContents()).toEqual(['newest installed (1.12.6)', '1.12.6'])
  await picture(page, 'new-workspace')
  await page.getByRole('combobox', { name: 'Tool' }).selectOption('Terraform')
  await page.getByText('The server has no version of Terraform.').waitFor()
  await page.getByRole('combobox', { name: 'Tool' }).selectOption('OpenTofu')
  await page.getByLabel('Name').fill('made/here')
  await page.keyboard.press('Enter')
  await page.getByText('There are no files yet.').waitFor()
  const { settings } = await server.call<{ settings: { tool: string; version?: string } }>('GET', '/api/v1/workspaces/made%2Fhere')
  expect([settings.tool, settings.version]).toEqual(['opentofu', undefined])
  expect(complaints).toEqual([])
  await page.context().close()
})

test('what is wrong is marked in its line, and the console leads there', async () => {
  server.workspace('prod/broken', { 'main.tf': 'locals {\n  a = 1\n}\n\noutput "x" {\n  value = local.nothing\n}\n' })
  const { page } = await editor('prod/broken')
  await page.getByRole('button', { name: 'Plan', exact: true }).click()
  const out = page.getByRole('region', { name: 'What came out' })
  await out.getByRole('button', { name: 'main.tf line 6' }).click()
  await page.getByTestId('code').locator('.squiggly-error').first().waitFor()
})

test('two people can not overwrite each other unseen', async () => {
  server.workspace('prod/shared', { 'main.tf': '# first\n' })
  const ana = await editor('prod/shared')
  const bob = await editor('prod/shared')
  await bob.page.getByTestId('code').getByText('# first').waitFor()
  await write(ana.page, '# by ana\n')
  await saved(ana.page, 'main.tf')
  await write(bob.page, '# by bob\n')

  await bob.page.getByRole('alert').getByText('Somebody else has saved this file meanwhile.').waitFor()
  const merge = bob.page.getByTestId('merge')
  await merge.getByText('# by ana').first().waitFor()
  await merge.getByText('# by bob').first().waitFor()
  expect(await content('prod/shared', 'main.tf')).toBe('# by ana\n')

  await merge.locator('.modified .view-lines').click()
  await bob.page.keyboard.press('ControlOrMeta+A')
  await bob.page.keyboard.insertText('# by ana and bob\n')
  await bob.page.getByRole('button', { name: 'Save the right one' }).click()
  await saved(bob.page, 'main.tf')
  expect(await content('prod/shared', 'main.tf')).toBe('# by ana and bob\n')

  // The other one sees it as soon as the window has the focus again.
  await ana.page.evaluate(() => window.dispatchEvent(new Event('focus')))
  await ana.page.getByTestId('code').getByText('# by ana and bob').waitFor()
  expect([...ana.complaints, ...bob.complaints]).toEqual([])
})

test('the editor has a document of its own, whose policy lets styles be written and nothing else more', async () => {
  const policies: Record<string, string> = {}
  const { page } = await visit(browser, server, '/states')
  page.on('response', (answer) => {
    if (answer.request().resourceType() === 'document') policies[new URL(answer.url()).pathname] = answer.headers()['content-security-policy'] ?? ''
  })
  await signIn(page, server.key)
  await page.getByRole('link', { name: 'Files' }).click()
  await page.getByRole('link', { name: 'prod/shared' }).click()
  await page.getByTestId('code').getByText('# by ana and bob').waitFor()
  expect(policies['/ui/editor/prod/shared']).toContain("style-src 'self' 'unsafe-inline'")
  expect(policies['/ui/editor/prod/shared']).toContain("script-src 'self';")
  await page.getByRole('link', { name: 'States' }).click()
  await page.getByRole('heading', { name: 'States' }).waitFor()
  expect(policies['/ui/states']).toContain("style-src 'self';")
})

test('what was typed as the session ended is there again, and saved, when the same one signs in', async () => {
  server.workspace('prod/ended', { 'main.tf': '# first\n' })
  const { page } = await editor('prod/ended')
  await page.getByTestId('code').getByText('# first').waitFor()
  await page.context().clearCookies()
  await write(page, '# typed too late\n')
  await page.getByRole('heading', { name: 'Holdfast' }).waitFor()
  expect(await content('prod/ended', 'main.tf')).toBe('# first\n')
  await signIn(page, server.key)
  await page.getByTestId('code').getByText('# typed too late').waitFor()
  await saved(page, 'main.tf')
  expect(await content('prod/ended', 'main.tf')).toBe('# typed too late\n')
})

test('a tab does nothing as another one, as which the browser has signed in since', async () => {
  server.workspace('prod/tabs', { 'main.tf': '# first\n' })
  const { page } = await editor('prod/tabs')
  await page.getByTestId('code').getByText('# first').waitFor()
  const other = await page.context().newPage()
  await other.goto(`${server.address}/ui/`)
  await other.getByRole('button', { name: /account and appearance/ }).click()
  await other.getByRole('menuitem', { name: 'Sign out' }).click()
  await other.getByRole('heading', { name: 'Holdfast' }).waitFor()
  await signIn(other, await server.keyOf('operator'))
  await write(page, '# of whom?\n')
  await page.getByRole('heading', { name: 'You are signed in as another one' }).waitFor()
  expect(await content('prod/tabs', 'main.tf')).toBe('# first\n')
})

test('to open a file changes nothing of it, and to save it leaves it one that can be run', async () => {
  server.workspace('prod/ends', { 'main.tf': '# first\n' })
  const mixed = '\uFEFF# a\r\n# b\n# c\r# d\n'
  await server.call('PUT', '/api/v1/workspaces/prod%2Fends/-/files/mixed.sh?executable=true', mixed)
  const { page } = await editor('prod/ends')
  await page.getByRole('button', { name: 'mixed.sh' }).first().click()
  await page.getByTestId('code').getByText('# d').waitFor()
  // The other file is saved a second after its key, and this one would have been before.
  await page.getByRole('button', { name: 'main.tf' }).first().click()
  await page.getByTestId('code').getByText('# first').waitFor()
  await write(page, '# second\n')
  await saved(page, 'main.tf')
  // As bytes: to read them as text would take the mark away.
  const files = () => server.call<{ files: { path: string; size: number; executable?: boolean }[] }>('GET', '/api/v1/workspaces/prod%2Fends/-/files')
  const script = async () => (await files()).files.find(({ path }) => path === 'mixed.sh')
  expect(await script()).toMatchObject({ size: new TextEncoder().encode(mixed).length, executable: true })
  await page.getByRole('button', { name: 'mixed.sh' }).first().click()
  await write(page, '#!/bin/sh\n')
  await saved(page, 'mixed.sh')
  // With the mark that it begins with.
  expect(await script()).toMatchObject({ size: 13, executable: true })
})

test('a file is formatted by the server, and saved as it comes back', async () => {
  server.workspace('prod/format', { 'main.tf': 'locals {\na=1\n   long = 2\n}\n' })
  const { page, complaints } = await editor('prod/format')
  await page.getByTestId('code').getByText('a=1').waitFor()
  await page.getByRole('button', { name: 'Format' }).click()
  await saved(page, 'main.tf')
  expect(await content('prod/format', 'main.tf')).toBe('locals {\n  a    = 1\n  long = 2\n}\n')
  expect(complaints).toEqual([])
})

test('a folder is uploaded with what is below it, beside the files that are there, and without what tools keep in it', async () => {
  server.workspace('prod/folder', { 'main.tf': '# here before\n' })
  const folder = server.configuration('upload', { 'network.tf': '# new\n', 'modules/a/main.tf': '# below\n', '.terraform/providers/x': 'of the tool' })
  const { page, complaints } = await editor('prod/folder')
  await page.getByTestId('code').getByText('# here before').waitFor()
  await page.getByRole('button', { name: 'Upload' }).click()
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('menuitem', { name: 'Upload a folder' }).click()
  await (await chooser).setFiles(folder)
  await page.getByRole('navigation', { name: 'Files' }).getByRole('button', { name: 'network.tf' }).first().waitFor()
  const { files } = await server.call<{ files: { path: string }[] }>('GET', '/api/v1/workspaces/prod%2Ffolder/-/files')
  expect(files.map(({ path }) => path).sort()).toEqual(['main.tf', 'modules/a/main.tf', 'network.tf'])
  expect(complaints).toEqual([])
})

test('a menu that is open when the editor comes stays open, and keeps the focus', async () => {
  server.workspace('prod/late', { 'main.tf': '# here\n' })
  const { page } = await visit(browser, server, '/editor/prod/late')
  let come = () => {}
  const late = new Promise<void>((resolve) => { come = resolve })
  await page.route(/\/CodeEditor-[^/]*\.js$/, async (route) => {
    await late
    await route.continue()
  })
  await signIn(page, server.key)
  await page.getByRole('button', { name: 'Upload' }).click()
  const item = page.getByRole('menuitem', { name: 'Upload a folder' })
  await item.waitFor()
  come()
  await page.getByTestId('code').getByText('# here').waitFor()
  expect(await item.isVisible()).toBe(true)
  expect(await page.evaluate(() => document.activeElement?.closest('[role="menu"]') !== null)).toBe(true)
  await page.context().close()
})
