import { mkdirSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { violations } from './accessible'
import { enter, openBrowser, visit } from './browser'
import { everyPage, furnish, hostile, open, type Furnished } from './everyPage'
import { Server } from './server'

let server: Server
let browser: Browser
let furnished: Furnished

beforeAll(async () => {
  server = await Server.start()
  browser = await openBrowser()
  furnished = await furnish(server)
})

afterAll(async () => {
  await browser.close()
  await server.remove()
})

test('no page has a violation of accessibility, in light or dark, none is wider than a small screen, and none complains', async () => {
  const pictures = process.env.HOLDFAST_PICTURES
  if (pictures) mkdirSync(pictures, { recursive: true })
  for (const dark of [false, true]) {
    const { page, complaints } = await enter(browser, server, '/', { dark })
    for (const place of everyPage(furnished)) {
      await open(page, place)
      // The chart of home is drawn when the browser has time.
      if (place.name === 'home') await page.locator('main canvas').waitFor()
      expect(await violations(page), `${place.name}${dark ? ', dark' : ''}`).toEqual([])
      if (pictures) await page.screenshot({ path: `${pictures}/${place.name}-${dark ? 'dark' : 'light'}.png` })
      if (dark) continue
      // As the same page that a window is made smaller for: what has to lay itself out anew does so in its own time.
      await page.setViewportSize({ width: 360, height: 740 })
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth), { message: `${place.name} in a small window`, timeout: 60_000 }).toBeLessThanOrEqual(360)
      await page.setViewportSize({ width: 1280, height: 800 })
    }
    expect(complaints).toEqual([])
    await page.context().close()
  }
  const { page, complaints } = await visit(browser, server)
  await page.getByLabel('Key').waitFor()
  expect(await violations(page), 'sign-in').toEqual([])
  expect(complaints).toEqual([])
  await page.context().close()
})

test('two versions are compared, and a value in JSON is a difference inside', async () => {
  const { page } = await enter(browser, server, '/states/prod/network')
  await page.getByRole('link', { name: 'Compare version 1 with 2' }).click()
  await page.getByRole('heading', { name: 'Version 2, compared with 1' }).waitFor()
  const row = page.getByRole('row', { name: /input\.value\.policy\.port/ }).first()
  expect(await row.textContent()).toContain('443')
  expect(await row.textContent()).toContain('8443')
  await page.context().close()
})

test('open folders, filters, what is opened and how differences are laid out have an address', async () => {
  const { page } = await enter(browser, server, '/states')
  const folder = page.getByRole('table', { name: 'States' }).getByRole('button', { name: /^\S* ?prod\// })
  await page.getByRole('link', { name: 'network', exact: true }).waitFor()
  await folder.click()
  await page.waitForURL(/closed=/)
  await page.reload()
  await folder.waitFor()
  expect(await folder.getAttribute('aria-expanded')).toBe('false')
  expect(await page.getByRole('link', { name: 'network', exact: true }).count()).toBe(0)
  await folder.click()
  await page.waitForURL(/open=/)
  await page.getByRole('link', { name: 'network', exact: true }).waitFor()

  await page.goto('/ui/states/prod/network?tab=resources')
  await page.getByRole('searchbox', { name: 'Words of an address or ID' }).fill('WEB')
  await page.waitForURL(/filter=WEB/)
  await page.getByText('1 resource;').waitFor()
  await page.getByRole('button', { name: 'terraform_data.web' }).click()
  await page.waitForURL(/resource=terraform_data\.web/)
  await page.reload()
  await page.getByRole('dialog', { name: 'terraform_data.web' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('1 resource;').waitFor()
  expect(page.url()).toMatch(/filter=WEB/)

  await page.goto(`/ui/runs/${furnished.waiting}?tab=files`)
  await page.getByLabel('View').selectOption('one below the other')
  await page.waitForURL(/view=unified/)
  await page.reload()
  await page.getByText('compared with').waitFor()
  expect(await page.getByLabel('View').inputValue()).toBe('unified')
  await page.context().close()
})

test('names and outputs are text, and a sensitive output is shown behind a click that is recorded', async () => {
  const { page } = await enter(browser, server, '/states/prod/network?tab=outputs')
  await page.getByText(hostile).first().waitFor()
  expect(await page.locator('img').count()).toBe(0)
  expect(await page.getByText('correct horse').count()).toBe(0)
  await page.getByRole('button', { name: 'Show sensitive values' }).click()
  await page.getByText('correct horse').first().waitFor()
  const { events } = await server.call<{ events: { action: string }[] }>('GET', '/api/v1/audit?limit=100')
  expect(events.map(({ action }) => action)).toContain('sensitive.read')
  await page.context().close()
})

test('somebody reads the changes, approves by keyboard, sees the live log and the new version', async () => {
  const { page, complaints } = await enter(browser, server)
  // What the plan that waits means stands on the first page, too.
  await page.getByRole('region', { name: 'Latest insight' }).getByText('1 critical').waitFor()
  await page.getByRole('link', { name: 'Review' }).click()
  await page.getByRole('button', { name: /terraform_data\.extra.*destroyed/ }).waitFor()
  await page.keyboard.press('a')
  await page.getByRole('dialog').getByText('Exactly this plan is applied').waitFor()
  await page.getByLabel('Reason, if you like').fill('looked at it')
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await page.getByRole('tab', { name: 'Log' }).click()
  await page.getByText('Apply complete!').waitFor()
  await page.getByRole('main').getByText('succeeded').first().waitFor()
  await page.getByRole('tab', { name: 'Made of' }).click()
  await page.getByRole('link', { name: 'version 3' }).click()
  await page.getByRole('heading', { name: /Version 3/ }).waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})

test('rows are gone through with j and k, o opens one, g s goes to states, and ? says so', async () => {
  const { page } = await enter(browser, server, '/runs')
  await page.getByRole('table', { name: 'Runs' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  await page.keyboard.press('o')
  await page.waitForURL(/\/ui\/runs\/.+/)
  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await page.waitForURL(/\/ui\/states$/)
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keys of this page' })
  await help.waitFor()
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'hidden' })
  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: 'Pages, states and runs' }).fill('prod net')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/ui\/states\/prod\/network$/)
  await page.context().close()
})
