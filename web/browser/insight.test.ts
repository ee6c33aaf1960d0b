import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rich } from '../src/testing/insight'
import { violations } from './accessible'
import { enter, openBrowser, picture } from './browser'
import { hostile } from './everyPage'
import { Server } from './server'

let server: Server
let browser: Browser
let waiting: string

// The example key of AWS's own documentation.
const leak = 'AKIAIOSFODNN7EXAMPLE'

beforeAll(async () => {
  server = await Server.start(['guards = off'])
  browser = await openBrowser()
  server.workspace('prod/jobs', {
    'main.tf': `
resource "terraform_data" "job" {
  for_each = toset(["${hostile}"])
  input    = "key ${leak}"
}
resource "terraform_data" "mail" { input = "smtp://robot:not-a-secret@mail.example.com" }
`,
  })
  waiting = (await server.call<{ id: string }>('POST', '/api/v1/runs', { workspace: 'prod/jobs', kind: 'apply' })).id
})

afterAll(async () => {
  await browser?.close()
  await server?.remove()
})

test('a plan with findings says so beside its changes, under Insight, and before it is approved', async () => {
  const { page, complaints } = await enter(browser, server, `/runs/${waiting}`)
  const line = page.getByRole('list', { name: 'What the plan means' })
  await line.getByText('1 critical').waitFor()
  await line.getByText('1 high').waitFor()
  await page.getByRole('button', { name: /terraform_data\.mail new.* 1 high/ }).waitFor()
  await picture(page, 'changes')
  await page.getByRole('link', { name: 'What it means' }).click()
  await page.waitForURL(/tab=insight/)
  const findings = page.getByRole('list', { name: 'Findings', exact: true }).getByRole('listitem')
  await page.getByRole('heading', { name: 'Findings (2)' }).waitFor()
  // The gravest first, in words, with what to do and where to read about it; a name is text.
  const first = await findings.first().textContent()
  expect(first).toMatch(/^◆critical/)
  expect(first).toContain(`terraform_data.job["${hostile}"]`)
  expect(first).toContain('What to do: Revoke it')
  expect(await findings.first().getByRole('link', { name: /HF-SEC-001/ }).getAttribute('href')).toMatch(/^https:\/\/opentofu\.org\//)
  expect(await page.locator('img').count()).toBe(0)
  expect(await page.getByRole('main').textContent()).not.toContain(leak)
  await page.getByRole('note', { name: 'Take care' }).getByText('2 findings of high or critical severity').waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, 'insight')

  // One severity has an address of its own.
  await page.getByRole('button', { name: '1 high' }).press('Enter')
  await page.waitForURL(/severity=high/)
  await expect.poll(() => findings.count()).toBe(1)
  await page.reload()
  await page.getByRole('button', { name: '1 high', pressed: true }).waitFor()
  expect(await findings.count()).toBe(1)

  await page.keyboard.press('a')
  const dialog = page.getByRole('dialog')
  const gravest = dialog.getByRole('list', { name: 'The gravest of it' }).getByRole('listitem')
  await gravest.first().getByText('critical').waitFor()
  await dialog.getByText('2 findings of high or critical severity').waitFor()
  // All of it stands before the buttons, and the focus begins in the reason.
  const approve = await dialog.getByRole('button', { name: 'Approve', exact: true }).boundingBox()
  expect((await gravest.last().boundingBox())!.y).toBeLessThan(approve!.y)
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA')
  expect(await violations(page)).toEqual([])
  await picture(page, 'approve')
  await page.keyboard.press('Escape')
  expect(complaints).toEqual([])
  await page.context().close()
})

test('the editor asks with the findings, too', async () => {
  const { page } = await enter(browser, server, `/editor/prod/jobs?run=${waiting}`)
  const dialog = page.getByRole('dialog', { name: 'Apply this plan to prod/jobs?' })
  await dialog.getByRole('list', { name: 'The gravest of it' }).getByText('critical').waitFor()
  await dialog.getByRole('button', { name: 'Approve and apply' }).waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA')
  await picture(page, 'editor')
  await dialog.getByRole('button', { name: 'Not now' }).click()
  await page.getByRole('region', { name: 'What came out' }).getByText('1 critical').waitFor()
  await page.context().close()
})

test.each([false, true])('an insight with everything in it is accessible and fits a small screen, in the dark: %s', async (dark) => {
  const { page, complaints } = await enter(browser, server, '/', { dark })
  const way = `**/api/v1/runs/${waiting}/insight`
  await page.route(way, (route) => route.fulfill({ json: rich(hostile) }))
  await page.goto(`/ui/runs/${waiting}?tab=insight`)
  await page.getByRole('heading', { name: 'Rules that could not be asked (1)' }).waitFor()
  const closed = page.locator('details:not([open]) > summary')
  while ((await closed.count()) > 0) await closed.first().press('Enter')
  expect(await violations(page)).toEqual([])
  expect(await page.locator('img, a[href^="javascript"]').count()).toBe(0)
  const tone = dark ? 'dark' : 'light'
  await picture(page, `rich-${tone}`)
  await page.getByRole('button', { name: 'Approve…' }).click()
  await page.getByRole('list', { name: 'The gravest of it' }).waitFor()
  expect(await violations(page)).toEqual([])
  await picture(page, `rich-approve-${tone}`)
  await page.keyboard.press('Escape')
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  await picture(page, `rich-small-${tone}`)
  expect(complaints).toEqual([])
  await page.context().close()
})

test('what can’t be said is said: a plan that is gone, and one that can’t be read', async () => {
  const { page } = await enter(browser, server, '/')
  const answers: Record<string, [status: number, code: string]> = { gone: [404, 'run_file_not_found'], large: [413, 'plan_json_too_large'] }
  let now = 'gone'
  await page.route(`**/api/v1/runs/${waiting}/insight`, (route) => {
    const [status, code] = answers[now]!
    return route.fulfill({ status, json: { error: 'refused', code, message: 'The plan is not looked at.', request_id: 'r1' } })
  })
  await page.goto(`/ui/runs/${waiting}?tab=insight`)
  await page.getByText('The plan is not there to be looked at.').waitFor()
  now = 'large'
  await page.reload()
  await page.getByRole('alert').getByText('plan_json_too_large').waitFor()
  await page.getByText('read its changes before you approve it').waitFor()
  expect(await violations(page)).toEqual([])
  // It may be tried again, and be there.
  await page.unroute(`**/api/v1/runs/${waiting}/insight`)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Findings (2)' }).waitFor()
  await page.context().close()
})
