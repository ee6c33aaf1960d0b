import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { violations } from './accessible'
import { enter, openBrowser } from './browser'
import { Server } from './server'

let server: Server
let browser: Browser

const state = (serial: number) => `{"version":4,"serial":${String(serial)},"lineage":"l","terraform_version":"1.12.6","outputs":{},"resources":[]}`
const files = (value: number) => ({ 'main.tf': `output "x" {\n  value = ${String(value)}\n}\n` })

beforeAll(async () => {
  server = await Server.start()
  browser = await openBrowser()
})

afterAll(async () => {
  await browser.close()
  await server.remove()
})

test('what others do is seen without asking for it again and again, also after the connection was lost', async () => {
  const { page, complaints } = await enter(browser, server, '/states')
  await page.clock.install()
  await page.reload()
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.startsWith('/api/')) asked.push(pathname + search)
  })
  await page.getByText('There is no state yet.').waitFor()
  await server.call('POST', '/api/v1/state/dev/one', state(1))
  await page.getByRole('link', { name: 'one' }).waitFor()
  // By the page's clock a quarter of a minute goes by. Nothing is asked for more than twice: at first, and for what has happened.
  await page.clock.runFor(14_000)
  const times = (path: string) => asked.filter((one) => one === path).length
  expect(asked.filter((path) => times(path) > 2)).toEqual([])
  expect(asked.length).toBeGreaterThan(0)

  await server.end()
  await server.serve()
  await server.call('POST', '/api/v1/state/dev/two', state(1))
  await page.getByRole('link', { name: 'two' }).waitFor()
  expect(asked.filter((path) => path.startsWith('/api/v1/events')).length).toBeGreaterThan(0)
  expect(complaints).toEqual([])
  await page.context().close()
})

test('a state is taken away when its name is typed, and brought back', async () => {
  const { page } = await enter(browser, server, '/states/dev/one')
  await page.getByRole('button', { name: 'Delete…' }).click()
  const dialog = page.getByRole('dialog')
  expect(await dialog.getByRole('button', { name: 'Delete', exact: true }).isDisabled()).toBe(true)
  await dialog.getByLabel('Type dev/one to go on').fill('dev/one')
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('button', { name: 'Bring back…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Bring back', exact: true }).click()
  await page.getByRole('button', { name: 'Delete…' }).waitFor()
  await page.context().close()
})

test('a run shows how its files differ from those that were applied last', async () => {
  server.workspace('prod/app', files(1))
  server.holdfast(['run', 'apply', 'prod/app', '--auto-approve'])
  server.push('prod/app', files(2))
  server.holdfast(['run', 'plan', 'prod/app'], [0, 2])
  const { runs } = await server.call<{ runs: { id: string; workspace: string }[] }>('GET', '/api/v1/runs?limit=1')
  const { page, complaints } = await enter(browser, server, `/runs/${runs[0]!.id}?tab=files`)
  const lines = page.getByRole('region', { name: 'Lines of main.tf' })
  await lines.getByText('value = 1').waitFor()
  await lines.getByText('value = 2').waitFor()
  await page.getByText('which was applied last').waitFor()
  expect(await violations(page)).toEqual([])
  expect(complaints).toEqual([])
  await page.context().close()
})
