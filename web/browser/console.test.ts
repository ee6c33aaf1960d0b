import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enter, openBrowser } from './browser'
import { framesOf, median } from './budget'
import { manyLines } from './many'
import { Server } from './server'

let server: Server
let browser: Browser

beforeAll(async () => {
  server = await Server.start(['guards = off'])
  browser = await openBrowser()
})

afterAll(async () => {
  await browser?.close()
  await server?.remove()
})

const rows = '[role="log"] [style*="translateY"]'

test('the console of the editor draws the lines in sight only, follows its end, and goes to its beginning by a key', async () => {
  server.workspace('big/console', manyLines(100_000))
  const { id } = await server.call<{ id: string }>('POST', '/api/v1/runs', { workspace: 'big/console', kind: 'apply', auto_approve: true })
  const { page, complaints } = await enter(browser, server, `/editor/big/console?run=${id}`)
  const log = page.getByRole('log')
  await log.getByText('Apply complete!').waitFor({ timeout: 200_000 })
  expect(await page.locator(rows).count()).toBeLessThan(150)
  const frames = await framesOf(page, 'Log of the run')
  const slowest = Math.max(...frames.map(({ processor }) => processor))
  process.stderr.write(`100,000 lines of the console: frames of ms of the processor, median and slowest: ${median(frames.map(({ processor }) => processor)).toFixed(0)}, ${slowest.toFixed(0)}\n`)
  expect(await page.locator(rows).count()).toBeLessThan(150)
  // All of them are there: the middle has its lines too.
  await log.evaluate((frame) => { frame.scrollTop = frame.scrollHeight / 2 })
  await log.getByText(/line [45]\d{4} of what takes an hour/).first().waitFor()
  // What was looked at is still there when the page is loaded again.
  await page.reload()
  await log.getByText('Apply complete!').waitFor({ timeout: 200_000 })
  await log.focus()
  await page.keyboard.press('Home')
  await log.getByText('terraform_data.much: Creating...').waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})
