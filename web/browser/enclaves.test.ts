import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enter, openBrowser } from './browser'
import { partition } from './everyPage'
import { Server } from './server'

const reconcile = '11111111-2222-4333-8444-555555555555'

let server: Server
let browser: Browser

beforeAll(async () => {
  server = await Server.start(['guards = off'])
  browser = await openBrowser()
  server.workspace('shop/db', partition('shop/db', []))
  server.workspace('shop/api', partition('shop/api', ['shop/db']))
  server.workspace('other/one', { 'main.tf': '' })
  await server.call('POST', '/api/v1/runs', { workspace: 'shop/db', kind: 'apply', auto_approve: true, reconcile })
  await server.call('POST', '/api/v1/runs', { workspace: 'shop/api', kind: 'apply', reconcile })
})

afterAll(async () => {
  await browser?.close()
  await server?.remove()
})

test('an enclave shows its graph with where each partition stands, and the plan of a reconcile', async () => {
  const { page, complaints } = await enter(browser, server)
  const main = page.getByRole('main')
  await page.goto('/ui/enclaves')
  await main.getByRole('link', { name: 'shop' }).waitFor()
  expect(await main.getByRole('link', { name: 'other' }).count()).toBe(0)
  await main.getByRole('link', { name: 'shop' }).click()

  const graph = page.getByRole('region', { name: 'Graph' })
  await graph.getByText('api').waitFor()
  await graph.getByText('succeeded').waitFor()
  await graph.getByText('waits for approval').waitFor()
  const partitions = page.getByRole('table', { name: 'Partitions' })
  await partitions.getByText('shop/db').waitFor()

  await page.getByLabel('Reconcile').selectOption(reconcile)
  await main.getByText('2 runs in the order of imports: +2 ~0 -0, 1 for approval.').waitFor()
  expect(new URL(page.url()).searchParams.get('reconcile')).toBe(reconcile)
  await page.getByRole('table', { name: 'Runs' }).getByRole('link', { name: '…' }).first().click()
  await page.waitForURL('**/ui/runs/*')
  expect(complaints).toEqual([])
})
