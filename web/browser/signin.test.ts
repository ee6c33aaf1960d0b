import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, signIn, visit } from './browser'
import { Issuer } from './issuer'
import { Server } from './server'

let server: Server
let browser: Browser
let issuer: Issuer

beforeAll(async () => {
  issuer = await Issuer.start('ana@acme.example.com')
  server = await Server.start([], ({ address, org }) => ({
    sections: `\n[${org}.oidc.people]\nissuer = ${issuer.address}\naudience = holdfast\nclaims.email = *@acme.example.com\nrole = operator\n`,
    environ: {
      HOLDFAST_PUBLIC_URL: address,
      HOLDFAST_PAGE_OIDC_ISSUER: issuer.address,
      HOLDFAST_PAGE_OIDC_CLIENT_ID: 'holdfast',
      HOLDFAST_PAGE_OIDC_NAME: "Acme's login",
    },
  }))
  browser = await openBrowser()
})

afterAll(async () => {
  await browser?.close()
  await server?.remove()
  await issuer?.remove()
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

test('somebody signs in at an issuer, comes back to the address, and may do what the rule for its tokens says', async () => {
  const { page, complaints } = await visit(browser, server, '/states?q=prod')
  await page.getByRole('link', { name: 'Sign in with Acme' }).click()
  await page.getByRole('link', { name: 'Go on as ana@acme.example.com' }).click()
  await page.getByRole('heading', { name: 'States' }).waitFor()
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/ui/states?q=prod')
  await page.getByRole('button', { name: 'ana-1: account and appearance' }).click()
  await page.getByText('operator of Acme').waitFor()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('Key').waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})
