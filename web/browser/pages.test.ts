import { mkdirSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { violations } from './accessible'
import { enter, openBrowser } from './browser'
import { scriptBytes } from './budget'
import { Server } from './server'

let server: Server
let browser: Browser
let waiting: string

const hostile = '<img src=x onerror=alert(1)>'

function configuration(port: number, more = ''): Record<string, string> {
  return {
    'main.tf': `
resource "terraform_data" "network" {
  count = 2
  input = { name = "net-\${count.index}", policy = jsonencode({ port = ${String(port)} }) }
}
resource "terraform_data" "web" {
  input = terraform_data.network[0].id
}
output "greeting" { value = "${hostile}" }
output "password" {
  value     = "correct horse"
  sensitive = true
}
${more}`,
  }
}

beforeAll(async () => {
  server = await Server.start()
  browser = await openBrowser()
  server.workspace('prod/network', configuration(443))
  server.holdfast(['run', 'apply', 'prod/network', '--auto-approve', '--message', hostile])
  server.push('prod/network', configuration(8443, 'resource "terraform_data" "extra" {}'))
  server.holdfast(['run', 'apply', 'prod/network', '--auto-approve'])
  server.push('prod/network', configuration(9443))
  server.holdfast(['run', 'apply', 'prod/network'], [0, 1, 2, 3, 4, 5])
  const runs = await server.call<{ runs: { id: string }[] }>('GET', '/api/v1/runs?status=awaiting_approval')
  waiting = runs.runs[0]!.id
})

afterAll(async () => {
  await browser.close()
  await server.remove()
})

const addresses = () => [
  ['home', '/', 'Recent runs'],
  ['states', '/states', 'network'],
  ['state', '/states/prod/network', 'Version 2'],
  ['resources-of-state', '/states/prod/network?tab=resources', 'terraform_data.web'],
  ['graph', '/states/prod/network?tab=graph', 'terraform_data.web'],
  ['outputs', '/states/prod/network?tab=outputs', 'greeting'],
  ['backend', '/states/prod/network?tab=use', 'lock_address'],
  ['runs', '/runs', 'prod/network'],
  ['run', `/runs/${waiting}`, 'terraform_data.extra'],
  ['log', `/runs/${waiting}?tab=log`, 'Plan:'],
]

test('no page has a violation of accessibility, in light or dark, and no page complains', async () => {
  const pictures = process.env.HOLDFAST_PICTURES
  if (pictures) mkdirSync(pictures, { recursive: true })
  for (const dark of [false, true]) {
    const { page, complaints } = await enter(browser, server, '/', { dark })
    for (const [name, path, text] of addresses()) {
      await page.goto(`/ui${path!}`)
      await page.getByRole('main').getByText(text!).first().waitFor()
      expect(await violations(page), `${name!}${dark ? ', dark' : ''}`).toEqual([])
      if (pictures) await page.screenshot({ path: `${pictures}/${name!}-${dark ? 'dark' : 'light'}.png` })
    }
    expect(complaints).toEqual([])
    await page.context().close()
  }
})

test('the pages can be read on a small screen: nothing is wider than it', async () => {
  const { page } = await enter(browser, server, '/', { width: 360, height: 740 })
  for (const [name, path, text] of addresses()) {
    await page.goto(`/ui${path!}`)
    await page.getByRole('main').getByText(text!).first().waitFor()
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(wide, name!).toBeLessThanOrEqual(360)
  }
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
  await page.getByRole('dialog', { name: 'Keys of this page' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: 'Pages, states and runs' }).fill('prod net')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/ui\/states\/prod\/network$/)
  await page.context().close()
})

test('the first page takes at most 180 KB of JavaScript', async () => {
  const { page } = await enter(browser, server, '/states')
  const fresh = await page.context().newPage()
  const size = await scriptBytes(fresh, '/', 'Recent runs')
  expect(size).toBeLessThan(180_000)
  await page.context().close()
})
