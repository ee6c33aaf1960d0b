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

test('somebody signs in, looks at a state, approves a run, and sees what it stored', async () => {
  server.workspace('shop/web', { 'main.tf': 'resource "terraform_data" "one" { input = "first" }\n' })
  server.holdfast(['run', 'apply', 'shop/web', '--auto-approve'])
  server.push('shop/web', { 'main.tf': 'resource "terraform_data" "one" { input = "second" }\n' })
  const { id } = await server.call<{ id: string }>('POST', '/api/v1/runs', { workspace: 'shop/web', kind: 'apply' })

  const { page, complaints } = await visit(browser, server, '/states/shop/web')
  await signIn(page, server.key)
  await page.getByRole('tab', { name: 'Resources' }).click()
  await page.getByRole('table', { name: 'Resources' }).getByText('terraform_data.one').first().waitFor()

  await page.goto(`/ui/runs/${id}`)
  await page.getByRole('button', { name: 'Approve…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click()
  await page.getByRole('main').getByText('succeeded').first().waitFor()

  await page.goto('/ui/states/shop/web')
  await page.getByRole('heading', { name: 'Version 2, and the one before it' }).waitFor()
  await page.getByRole('cell', { name: '"second"' }).first().waitFor()
  expect(complaints).toEqual([])
})
