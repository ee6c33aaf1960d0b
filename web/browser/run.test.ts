import { randomUUID } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enter, openBrowser, picture } from './browser'
import { parentOf, Server } from './server'

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

async function apply(workspace: string, approved: boolean): Promise<string> {
  return (await server.call<{ id: string }>('POST', '/api/v1/runs', { workspace, kind: 'apply', ...(approved ? { auto_approve: true } : {}) })).id
}

test('a run is cancelled in stages: who asked, and what is in flight, stands on its page', async () => {
  // What the tool waits for never comes: it ends when it is told to, or when its folder is gone.
  const mark = randomUUID()
  server.workspace('stop/it', {
    'main.tf': `resource "terraform_data" "slow" {
  provisioner "local-exec" { command = "while [ -e main.tf ]; do sleep 0.1; done # ${mark}" }
}
resource "terraform_data" "after" { input = terraform_data.slow.id }
`,
  })
  const id = await apply('stop/it', true)
  const { page, complaints } = await enter(browser, server, `/runs/${id}`)
  // The tool itself is stopped, so it hears nothing, however soon it is told: it has to be killed. It is stopped from here,
  // because nothing that it starts could where it is the first process of its namespace.
  process.kill(await parentOf(mark), 'SIGSTOP')
  // An executor tells with each sign of life, some ten seconds apart, what it has in flight.
  await page.getByRole('main').getByRole('list', { name: 'In flight' }).first().getByText('terraform_data.slow').waitFor()
  // The stage that is under way has its time, too.
  await page.getByRole('list', { name: 'Stages' }).getByText(/apply \d+ (s|min)$/).waitFor()

  // Another one waits behind it, and the table of runs says so.
  const behind = await apply('stop/it', false)
  const list = await enter(browser, server, '/runs')
  await list.page.getByRole('row').filter({ hasText: `…${behind.slice(-8)}` }).getByText(`waits behind run ${id}`).waitFor()
  await list.page.context().close()
  await server.call('POST', `/api/v1/runs/${behind}/cancel`, { level: 'soft' })

  await page.getByRole('button', { name: 'Cancel…' }).click()
  const question = page.getByRole('dialog', { name: 'Cancel the run' })
  await question.getByText('terraform_data.slow').waitFor()
  await question.getByLabel('Reason, if you like').fill('not today')
  await question.getByRole('button', { name: 'Cancel it' }).click()
  const asked = page.getByRole('status').filter({ hasText: 'asked for by first key' })
  await asked.getByText('The tool finishes what is in flight').waitFor()
  // Whoever may can go further, and is told what that leaves behind.
  await page.getByRole('button', { name: 'Kill…' }).click()
  const sure = page.getByRole('dialog', { name: 'Kill the run' })
  await sure.getByText('terraform_data.slow').waitFor()
  await sure.getByLabel('Reason').fill('it hears nothing')
  await sure.getByLabel('Type stop/it to go on').fill('stop/it')
  await sure.getByRole('button', { name: 'Kill it' }).click()
  await page.getByRole('status').filter({ hasText: 'The run has ended.' }).waitFor()
  await page.getByRole('button', { name: 'Run again' }).waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})

test('a plan that is out of date says since when, because of what, and by whom', async () => {
  server.workspace('old/plan', { 'main.tf': 'resource "terraform_data" "one" { input = "a" }\n' })
  server.holdfast(['run', 'apply', 'old/plan', '--auto-approve'])
  server.push('old/plan', { 'main.tf': 'resource "terraform_data" "one" { input = "b" }\n' })
  const id = await apply('old/plan', false)
  const { page } = await enter(browser, server, `/runs/${id}`)
  await page.getByText('(current)').waitFor()
  await page.getByRole('button', { name: 'Approve…' }).waitFor()
  const now = await server.call<{ serial: number }>('GET', '/api/v1/state/old%2Fplan')
  await server.call('POST', '/api/v1/state/old%2Fplan', { ...now, serial: now.serial + 1, outputs: { x: { value: 1, type: 'number' } } })
  await page.getByText('(out of date)').waitFor()
  await page.getByText(/This plan is out of date since .* because of state, version 2, by first key\. It can’t be applied; run it again\./).waitFor()
  await page.getByRole('button', { name: 'Run again' }).waitFor()
  expect(await page.getByRole('button', { name: 'Approve…' }).count()).toBe(0)
  await page.context().close()
})

test('a plan is denied with a reason, which stands on its page, and nothing is applied', async () => {
  server.workspace('no/plan', { 'main.tf': 'resource "terraform_data" "one" { input = "a" }\n' })
  const id = await apply('no/plan', false)
  const { page, complaints } = await enter(browser, server, `/runs/${id}`)
  await page.getByRole('button', { name: 'Deny…' }).click()
  const question = page.getByRole('dialog', { name: /^Deny no\/plan/ })
  expect(await question.getByRole('button', { name: 'Deny', exact: true }).isDisabled()).toBe(true)
  await question.getByLabel('Reason').fill('not on a Friday')
  await question.getByRole('button', { name: 'Deny', exact: true }).click()
  await page.getByRole('list', { name: 'Decisions' }).getByText('not on a Friday').waitFor()
  await page.getByText('denied by first key').first().waitFor()
  expect(await page.getByRole('button', { name: 'Approve…' }).count()).toBe(0)
  const { status, version_after: after } = await server.call<{ status: string; version_after?: number }>('GET', `/api/v1/runs/${id}`)
  expect([status, after]).toEqual(['discarded', undefined])
  expect(complaints).toEqual([])
  await page.context().close()
})

test('who asked for a run sees why their yes does not count, and for whom it waits', async () => {
  server.workspace('two/people', { 'main.tf': 'resource "terraform_data" "one" { input = "a" }\n' })
  server.holdfast(['workspace', 'set', 'two/people', '--approvals', '1'])
  const key = await server.keyOf('approver')
  const id = await apply('two/people', false)
  const { page, complaints } = await enter(browser, server, `/runs/${id}`)
  await page.getByText('Who asked for a run may not approve it in this workspace. It waits for somebody else: approver.').waitFor()
  const approve = page.getByRole('button', { name: 'Approve…' })
  expect(await approve.isDisabled()).toBe(true)
  expect(await approve.getAttribute('aria-describedby')).not.toBeNull()
  await picture(page, 'author')
  // The key does nothing, either.
  await page.keyboard.press('a')
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.getByRole('button', { name: 'Deny…' }).waitFor()

  // The editor's question says the same.
  await page.goto(`/ui/editor/two/people?run=${id}`)
  const question = page.getByRole('dialog')
  await question.getByText('A yes of yours does not count: who asked for a run').waitFor()
  expect(await question.getByRole('button', { name: 'Approve', exact: true }).isDisabled()).toBe(true)

  const other = await enter(browser, server, `/runs/${id}`, { key })
  await other.page.getByRole('button', { name: 'Approve…' }).click()
  await other.page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click()
  await other.page.getByRole('main').getByText('succeeded').first().waitFor()
  expect(complaints.concat(other.complaints)).toEqual([])
  await other.page.context().close()
  await page.context().close()
})
