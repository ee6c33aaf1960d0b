import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, signIn, visit } from './browser'
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

test('somebody signs in with a key, stays at the address, and signs out', async () => {
  const { page, complaints } = await visit(browser, server, '/states')
  await signIn(page, server.key)
  await page.getByRole('heading', { name: 'States' }).waitFor()
  await page.getByText('There is no state yet.').waitFor()
  expect(new URL(page.url()).pathname).toBe('/ui/states')

  await page.getByRole('button', { name: 'account and appearance' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('Key').waitFor()
  expect(complaints).toEqual([])
})

test('a wrong key is refused where it was typed', async () => {
  const { page } = await visit(browser, server)
  await page.getByLabel('Key').fill('hfk_nobody')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('credentials_wrong').waitFor()
})
