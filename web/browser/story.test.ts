import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enter, openBrowser, visit, signIn } from './browser'
import { hostile } from './everyPage'
import { Line } from './line'
import { Server } from './server'

let server: Server
let browser: Browser

beforeAll(async () => {
  server = await Server.start(['guards = hold'])
  browser = await openBrowser()
})

afterAll(async () => {
  await browser?.close()
  await server?.remove()
})

/** write puts a text in the place of all that the editor has, and waits until it is saved. */
async function write(page: Page, text: string): Promise<void> {
  await page.getByTestId('code').locator('.view-lines').click()
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.insertText(text)
  await page.getByRole('status').filter({ hasText: 'main.tf saved' }).waitFor()
  await expect.poll(() => server.text('/api/v1/workspaces/story%2Fone/-/files/main.tf')).toBe(text)
}

// A line each: the editor would indent what has more, once again.
const three = ['a', 'b', 'c'].map((name) => `resource "terraform_data" "${name}" { input = "first" }`).join('\n')
const console_ = (page: Page) => page.getByRole('region', { name: 'Console' })

async function apply(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Apply', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Approve and apply' }).click()
}

test('somebody makes a workspace, writes, plans, reads, applies, breaks it, is held, promotes, and rolls back', async () => {
  const { page, complaints } = await enter(browser, server)
  await page.getByRole('link', { name: 'Files' }).click()
  await page.getByRole('button', { name: 'New workspace' }).click()
  const make = page.getByRole('dialog', { name: 'Make a workspace' })
  await make.getByLabel('Name').fill('story/one')
  await make.getByLabel('Version').selectOption('1.12.6')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/ui\/editor\/story\/one/)
  await page.getByRole('button', { name: 'New file' }).click()
  await page.getByLabel('Path').fill('main.tf')
  await page.keyboard.press('Enter')
  await write(page, three)

  await page.getByRole('button', { name: 'Plan', exact: true }).click()
  await page.getByRole('region', { name: 'What came out' }).getByText('+3 ~0 -0').waitFor()
  await apply(page)
  await page.getByRole('log').getByText('Apply complete!').waitFor()
  await console_(page).getByRole('status').getByText('succeeded').waitFor()

  await write(page, three.replaceAll('first', 'second'))
  await apply(page)
  await page.getByRole('log').getByText('0 added, 3 changed, 0 destroyed').waitFor()
  await page.goto('/ui/states/story/one')
  await page.getByRole('heading', { name: 'Version 2, and the one before it' }).waitFor()
  await page.getByRole('cell', { name: '"second"' }).first().waitFor()

  // A client writes an emptied state, which no plan of a run has said: the guard keeps it back, and says so where people look.
  const state = JSON.parse(await server.text('/api/v1/state/story%2Fone')) as { serial: number }
  const emptied = server.call('POST', '/api/v1/state/story%2Fone', { ...state, serial: state.serial + 1, resources: [] })
  await expect(emptied).rejects.toThrow('write_held')
  await page.goto('/ui/')
  const needs = page.getByRole('listitem').filter({ hasText: 'kept back' })
  await needs.getByRole('link', { name: /^Look/ }).click()
  const candidate = page.getByRole('region', { name: /^Candidate/ }).filter({ hasText: 'emptied' }).first()
  await candidate.getByText('a guard kept it back').waitFor()
  await candidate.getByText('gone').first().waitFor()

  await candidate.getByRole('button', { name: 'Promote…' }).click()
  await page.getByLabel('Reason').fill('it is gone indeed')
  await page.getByRole('dialog').getByRole('button', { name: 'Promote' }).click()
  await page.getByText('promoted').first().waitFor()
  await page.getByRole('tab', { name: 'Versions' }).click()
  await page.getByRole('heading', { name: /Version \d+, and the one before it/ }).waitFor()

  await page.getByRole('table', { name: 'Versions' }).getByRole('link', { name: '2', exact: true }).click()
  await page.getByRole('button', { name: 'Roll back to 2…' }).click()
  await page.getByLabel('Reason').fill('it was not meant')
  await page.keyboard.press('Tab')
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click()
  await page.getByText('rollback to 2').waitFor()
  const { versions } = await server.call<{ versions: { resources: number }[] }>('GET', '/api/v1/state/story%2Fone/-/versions')
  expect(versions[0]!.resources).toBe(3)
  expect(complaints).toEqual([])
  await page.context().close()
})

test('a lock is released with a reason, once its name is typed, and the record has both', async () => {
  await server.call('POST', '/api/v1/state/story%2Flocked', { version: 4, serial: 1, lineage: 'a', terraform_version: '1.12.6', outputs: {}, resources: [] })
  await server.call('POST', '/api/v1/state/story%2Flocked/-/lock', { ID: 'held-by-bob', Operation: 'OperationTypeApply', Who: `bob ${hostile}` })
  const { page, complaints } = await enter(browser, server, '/states/story/locked')
  const lock = page.getByRole('region', { name: 'Lock' })
  await lock.getByText(`bob ${hostile}`).waitFor()
  await lock.getByRole('button', { name: 'Release…' }).click()
  const question = page.getByRole('dialog')
  await question.getByLabel('Reason').fill('bob has left')
  expect(await question.getByRole('button', { name: 'Release' }).isDisabled()).toBe(true)
  await question.getByLabel('Type story/locked to go on').fill('story/locked')
  await question.getByRole('button', { name: 'Release' }).click()
  await lock.waitFor({ state: 'detached' })
  const { events } = await server.call<{ events: { action: string; detail?: unknown }[] }>('GET', '/api/v1/audit?limit=20')
  expect(JSON.stringify(events)).toContain('bob has left')
  expect(await page.locator('img').count()).toBe(0)
  expect(complaints).toEqual([])
  await page.context().close()
})

test('a connection is lost in the middle of an apply and comes back: the log has each line once, colours are colours, markup is text', async () => {
  const total = 400
  server.workspace('story/long', {
    'main.tf': `
resource "terraform_data" "long" {
  provisioner "local-exec" {
    command = "printf '\\\\033[31mred\\\\033[0m ${hostile} \\\\033]8;;javascript:alert(1)\\\\007link\\\\n'; i=0; while [ $i -lt ${String(total)} ]; do i=$((i+1)); echo tick-$i-; [ $i != 200 ] || until [ -e go-on ]; do sleep 0.1; done; done"
  }
}
`,
  })
  const line = await Line.to(server.address)
  const { page, complaints } = await visit(browser, { address: line.address })
  await signIn(page, server.key)
  const { id } = await server.call<{ id: string }>('POST', '/api/v1/runs', { workspace: 'story/long', kind: 'apply', auto_approve: true })
  await page.goto(`/ui/runs/${id}?tab=log&stream=apply`)
  const log = page.getByRole('region', { name: 'Log of the apply' })
  // The apply waits in its middle until the connection is lost, however long that takes.
  await log.getByText('tick-200-').waitFor()
  line.cut()
  await page.getByText('connection lost, trying again').waitFor()
  server.besideConfigurations('go-on')
  await server.text(`/api/v1/runs/${id}`)
  line.join()
  await log.getByText('Apply complete!').waitFor()
  await page.getByRole('main').getByText('succeeded').first().waitFor()
  expect(await ticks(page)).toEqual(Array.from({ length: total }, (_, index) => index + 1))
  expect(complaints.filter((said) => !said.includes('ERR_'))).toEqual([])

  await page.getByLabel('Search the log').fill('red <img')
  await page.getByText('1 of').waitFor()
  await page.keyboard.press('Enter')
  await log.getByText(hostile).first().waitFor()
  expect(await page.locator('main img, main a[href^="javascript"]').count()).toBe(0)
  const { color, plain } = await log.getByText('red', { exact: true }).first().evaluate((node) => ({ color: getComputedStyle(node).color, plain: getComputedStyle(document.body).color }))
  expect(color).not.toBe(plain)
  await page.context().close()
  await line.remove()
})

/** ticks scrolls through the log and returns the numbers of its lines tick-N- in the order in which they stand there. */
async function ticks(page: Page): Promise<number[]> {
  return page.getByRole('region', { name: 'Log of the apply' }).evaluate(async (frame) => {
    const lines = new Map<number, string>()
    for (let top = 0; ; top += frame.clientHeight) {
      frame.scrollTop = top
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      for (const row of frame.querySelectorAll('[aria-label^="Line "]')) lines.set(Number(row.textContent), row.nextElementSibling?.textContent ?? '')
      if (top + frame.clientHeight >= frame.scrollHeight) break
    }
    return [...lines].sort(([a], [b]) => a - b).flatMap(([, text]) => [...text.matchAll(/tick-(\d+)-/g)].filter(() => text.includes('local-exec): tick')).map((found) => Number(found[1])))
  })
}
