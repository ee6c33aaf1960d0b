import { cpus, loadavg } from 'node:os'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BareBrowser } from './bare'
import { enter, openBrowser } from './browser'
import { framesOf, heapOf, median, scriptBytes, usableAfter } from './budget'
import { manyLines, manyVersions, manyWorkspaces } from './many'
import { Server } from './server'

let server: Server
let browser: Browser

beforeAll(async () => {
  server = await Server.start(['guards = off'])
  browser = await openBrowser()
  server.workspace('big/changes', { 'main.tf': 'resource "terraform_data" "each" {\n  count = 5000\n  input = count.index\n}\n' })
  for (const lines of [100_000, 300_000, 600_000]) server.workspace(linesIn(lines), manyLines(lines))
  // With the four above: an organization may have a thousand.
  await Promise.all([manyWorkspaces(server, 996), manyVersions(server, 'big/versions', 10_000)])
})

afterAll(async () => {
  await browser?.close()
  await server?.remove()
})

const linesIn = (count: number) => `big/lines-${String(count)}`
const say = (what: string, ...numbers: number[]) => { process.stderr.write(`${what}: ${numbers.map((one) => one.toFixed(0)).join(', ')}\n`) }

/** A busy machine's clock says nothing of the page. */
const isQuiet = () => loadavg()[0]! < 1.5 * cpus().length

/** smooth tries a few times: a frame that the browser took for something else is no fault of the page. */
async function smooth(page: Page, what: string, region?: string): Promise<void> {
  let slowest = { clock: Infinity, processor: Infinity }
  for (let tries = 0; tries < 5 && (slowest.processor > 100 || (isQuiet() && slowest.clock > 100)); tries++) {
    const frames = await framesOf(page, region)
    slowest = { clock: Math.max(...frames.map(({ clock }) => clock)), processor: Math.max(...frames.map(({ processor }) => processor)) }
    say(`${what}: frames in ms, median and slowest by the clock, and of the processor`, median(frames.map(({ clock }) => clock)), slowest.clock, median(frames.map(({ processor }) => processor)), slowest.processor)
  }
  expect(slowest.processor, `slowest frame of ${what}`).toBeLessThanOrEqual(100)
  if (isQuiet()) expect(slowest.clock, `slowest frame of ${what}`).toBeLessThanOrEqual(100)
}

async function runOf(workspace: string, kind: 'plan' | 'apply'): Promise<string> {
  return (await server.call<{ id: string }>('POST', '/api/v1/runs', { workspace, kind, ...(kind === 'apply' ? { auto_approve: true } : {}) })).id
}

test('the first page takes at most 180 KB of JavaScript', async () => {
  const { page } = await enter(browser, server, '/states')
  const fresh = await page.context().newPage()
  const size = await scriptBytes(fresh, '/', 'Recent runs')
  say('bytes of JavaScript', size)
  expect(size).toBeLessThan(180_000)
  await page.context().close()
})

test('the first page asks for each thing once', async () => {
  const { page } = await enter(browser, server, '/states')
  const fresh = await page.context().newPage()
  const asked: string[] = []
  fresh.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await fresh.goto('/ui/')
  await fresh.getByRole('heading', { name: 'Recent runs' }).waitFor()
  // Who somebody is, the document asks before there is a script: the script takes that answer.
  expect(asked.filter((path) => path.startsWith('/api/')).slice(0, 2)).toEqual(['/api/v1/whoami', '/api/v1/home'])
  expect(asked).toEqual([...new Set(asked)])
  await page.context().close()
})

test('the first page can be used within a second by a processor that is four times slower', async () => {
  const { page } = await enter(browser, server)
  const cookies = await page.context().cookies()
  await page.context().close()
  const bare = BareBrowser.start()
  const clocks: number[] = []
  const processors: number[] = []
  for (let tries = 0; tries < 7; tries++) {
    const { clock, processor } = await usableAfter(bare, `${server.address}/ui/`, cookies, 'Recent runs', 4)
    clocks.push(clock)
    processors.push(processor)
  }
  await bare.close()
  say('usable after ms by the clock', median(clocks), ...clocks)
  say('of that the page took ms of the processor', median(processors), ...processors)
  expect(Math.min(...processors)).toBeLessThan(1000)
  // A second by the clock is the budget, which HOLDFAST_BUDGETS=clock holds on a machine that does nothing else.
  if (process.env.HOLDFAST_BUDGETS === 'clock') expect(Math.min(...clocks)).toBeLessThan(1000)
})

test('a thousand workspaces scroll smoothly', async () => {
  const { page } = await enter(browser, server, '/files')
  await page.getByRole('table', { name: 'Workspaces' }).waitFor()
  expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe('1001')
  await smooth(page, '1,000 workspaces')
  await page.context().close()
})

test('the tree of states scrolls smoothly with all its folders open', async () => {
  const open = ['many/', ...Array.from({ length: 10 }, (_, index) => `many/of-${String(index)}/`)]
  const { page } = await enter(browser, server, `/states?open=${encodeURIComponent(JSON.stringify(open))}`)
  const table = page.getByRole('table', { name: 'States' })
  await table.waitFor()
  await expect.poll(async () => Number(await table.getAttribute('aria-rowcount'))).toBeGreaterThan(996)
  await smooth(page, 'the tree of 1,000 names')
  await page.context().close()
})

test('ten thousand versions scroll smoothly, and one that is far down has an address', async () => {
  const { page } = await enter(browser, server, '/states/big/versions')
  const table = page.getByRole('table', { name: 'Versions' })
  await table.waitFor()
  const old = await page.context().newPage()
  await old.goto(`${server.address}/ui/states/big/versions?version=7`)
  await old.getByRole('heading', { name: 'Version 7, and the one before it' }).waitFor()
  await old.goto(`${server.address}/ui/states/big/versions?version=70000`)
  await old.getByText('There is no version 70000.').waitFor()
  await old.close()
  // More are read when the end comes near.
  await expect.poll(async () => {
    await page.evaluate(() => { window.scrollTo(0, document.documentElement.scrollHeight) })
    return Number(await table.getAttribute('aria-rowcount'))
  }, { timeout: 90_000, interval: 20 }).toBe(10_001)
  await smooth(page, '10,000 versions')
  await page.context().close()
})

test('five thousand changes scroll smoothly', async () => {
  const id = await runOf('big/changes', 'plan')
  const { page } = await enter(browser, server, `/runs/${id}?tab=changes`)
  await page.getByRole('list', { name: 'What the plan changes' }).waitFor({ timeout: 100_000 })
  await page.getByRole('tab', { name: /5,?000/ }).waitFor()
  await smooth(page, '5,000 changes')
  await page.context().close()
})

/** followed opens the log of an apply that prints so many lines while it begins, and waits for its end. */
async function followed(lines: number): Promise<Page> {
  const id = await runOf(linesIn(lines), 'apply')
  const { page } = await enter(browser, server, `/runs/${id}?tab=log&stream=apply`)
  await page.getByText('Apply complete!').waitFor({ timeout: 240_000 })
  return page
}

test('a hundred thousand lines of a log scroll smoothly', async () => {
  const page = await followed(100_000)
  await page.getByRole('button', { name: 'Following' }).click()
  await smooth(page, '100,000 lines', 'Log of the apply')
  await page.getByLabel('Search the log').fill('line 77777 of')
  await page.getByText('1 of 1').waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('line 77777 of').waitFor()
  await page.context().close()
})

test('an hour of a live log takes no more memory than half of it', async () => {
  const heaps: number[] = []
  for (const lines of [300_000, 600_000]) {
    const page = await followed(lines)
    heaps.push(await heapOf(page))
    await page.context().close()
  }
  say('bytes held after 300,000 and 600,000 lines', ...heaps)
  expect(heaps[1]! / heaps[0]!).toBeLessThan(1.2)
})
