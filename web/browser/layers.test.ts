import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { layer } from '../src/testing/layers'
import { violations } from './accessible'
import { enter, openBrowser, picture } from './browser'
import { hostile } from './everyPage'
import { GitServer } from './git'
import { Server } from './server'

let server: Server
let browser: Browser
let git: GitServer

const app = (word: string) => `module "shared" { source = "../shared" }\nresource "terraform_data" "made" { input = "${word} \${module.shared.word}" }\n`
const shared = (word: string) => ({ 'shared/main.tf': `output "word" { value = "${word}" }\n` })

beforeAll(async () => {
  server = await Server.start(['guards = off'])
  browser = await openBrowser()
  git = server.has(await GitServer.start())
  git.commit('infra', 'Begin', { 'app/main.tf': app('one'), ...shared('one') })
})

afterAll(async () => {
  await browser?.close()
  await server?.remove()
})

// Not by the command: while it goes on, nothing else does here, the repositories' server too.
const fetched = () => server.call('POST', '/api/v1/repositories/infra/fetch')

async function push(message: string, files: Record<string, string>): Promise<string> {
  const commit = git.commit('infra', message, files)
  await fetched()
  return commit
}

interface Standing {
  state: string
  applied_commit?: string
  commits?: object[]
}

/** stands waits until the server says so of the layer: what the page reads next is that, or newer. */
async function stands(is: (layer: Standing, waiting: number) => boolean): Promise<void> {
  const now = async () => {
    const layer = await server.call<Standing>('GET', '/api/v1/layers/prod%2Fapp')
    const { runs } = await server.call<{ runs: object[] }>('GET', '/api/v1/runs?workspace=prod%2Fapp&status=awaiting_approval')
    return is(layer, runs.length)
  }
  await expect.poll(now, { timeout: 300_000, interval: 200 }).toBe(true)
}

test('who has no layer is told how one is made, and a layer leads from a commit to its run, version and resource, and back', async () => {
  const { page, complaints } = await enter(browser, server, '/layers')
  await page.getByText('There is no layer yet.').waitFor()
  await page.getByRole('tab', { name: 'Repositories' }).click()
  await page.getByText('There is no repository yet.').waitFor()
  server.holdfast(['repo', 'add', 'infra', git.url('infra')])
  await fetched()
  const repository = page.getByRole('region', { name: 'Repository infra' })
  await repository.getByText('main', { exact: false }).first().waitFor()
  await repository.getByRole('button', { name: 'Copy webhook address of infra' }).waitFor()
  await repository.getByText(/^https?:\/\/.+\/webhooks\/plain\/[0-9a-f-]{36}$/).waitFor()
  server.holdfast(['layer', 'add', 'prod/app', '--repository', 'infra', '--path', 'app', '--remediation', 'propose', '--tool', 'opentofu', '--version', '1.12.6', '--check-every', 'off'])
  await stands(({ state }, waiting) => state === 'ApplyNeeded' && waiting === 1)
  await repository.getByRole('link', { name: '1 layer' }).click()
  await page.getByRole('link', { name: 'prod/app' }).click()

  // A plan is made for the first commit, and waits for somebody.
  const conditions = page.getByRole('table', { name: 'Conditions of the layer' })
  const row = (name: string) => conditions.getByRole('row').filter({ hasText: name })
  await row('IsLastRelevantCommitPlanned').getByText('LastRelevantCommitPlanned', { exact: true }).waitFor()
  await row('IsApplyUpToDate').getByText('NoApplyHasRun').waitFor()
  await page.getByRole('tab', { name: 'Commits' }).click()
  const commits = page.getByRole('list', { name: 'Commits, the newest first' })
  await commits.getByText('waits for approval').waitFor()
  const { runs: [first] } = await server.call<{ runs: { id: string; pin: { digest: string } }[] }>('GET', '/api/v1/runs?workspace=prod%2Fapp')
  await server.call('POST', `/api/v1/runs/${first!.id}/approve`, { digest: first!.pin.digest })
  await stands(({ applied_commit: applied }) => applied !== undefined)

  // One commit is nothing to the layer, the next one changes a module that it calls.
  await push(`Say something ${hostile}`, { 'README.md': 'nothing that is read\n' })
  const second = await push('Change what a module says', shared('two'))
  await stands(({ commits = [] }, waiting) => commits.length === 3 && waiting === 1)
  const newest = commits.getByRole('listitem').filter({ hasText: 'Change what a module says' }).first()
  await newest.getByText('shared/main.tf').waitFor()
  await commits.getByRole('listitem').filter({ hasText: hostile }).getByText('not relevant').waitFor()
  expect(await page.locator('img').count()).toBe(0)
  await newest.getByRole('link', { name: /^apply …/ }).first().click()
  await page.getByRole('button', { name: 'Approve…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click()
  await page.getByRole('main').getByText('succeeded').first().waitFor()

  await stands(({ applied_commit: applied }) => applied === second)
  // And back: from the run to the layer, to the version, to the resource's history, to the run.
  await page.getByRole('tab', { name: 'Made of' }).click()
  await page.getByRole('main').getByText(second.slice(0, 12), { exact: true }).waitFor()
  await page.getByRole('main').getByRole('link', { name: 'prod/app', exact: true }).last().click()
  await page.waitForURL(/\/ui\/layers\/prod\/app\?tab=commits/)
  await newest.getByText('applied last').waitFor()
  await newest.getByRole('link', { name: 'version 2' }).click()
  await page.getByRole('heading', { name: /^Version 2/ }).waitFor()
  await page.getByRole('tab', { name: 'Resources' }).click()
  await page.getByRole('button', { name: 'terraform_data.made' }).click()
  await page.getByRole('dialog').getByRole('link', { name: /history/i }).click()
  await page.getByRole('link', { name: 'its run' }).first().click()
  await page.waitForURL(/\/ui\/runs\//)
  expect(complaints).toEqual([])
  await page.context().close()
})

test('what comes from a repository is read here, and a draft of it can be planned and nothing else', async () => {
  const { page, complaints } = await enter(browser, server, '/editor/prod/app?file=app/main.tf')
  const note = page.getByRole('note')
  await note.getByText('It is written there, and read-only here.').waitFor()
  await note.getByRole('link', { name: 'infra' }).waitFor()
  await picture(page, 'owned')
  await page.getByTestId('code').locator('.view-lines').waitFor()
  expect(await page.getByRole('button', { name: 'New file' }).count()).toBe(0)
  const before = await server.text('/api/v1/workspaces/prod%2Fapp/-/files/app/main.tf')

  await note.getByRole('button', { name: 'Edit a draft' }).click()
  await note.getByText('It can be planned only, and the next commit takes its place.').waitFor()
  await page.getByRole('button', { name: 'New file' }).waitFor()
  await page.getByTestId('code').locator('.view-lines').click()
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.insertText(app('a draft'))
  await page.getByRole('status').filter({ hasText: 'app/main.tf saved' }).waitFor()
  expect(await page.getByRole('button', { name: 'Apply', exact: true }).isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Plan', exact: true }).isEnabled()).toBe(true)
  await picture(page, 'draft')
  // The server holds to it too, whoever asks.
  await expect(server.call('POST', '/api/v1/runs', { workspace: 'prod/app', kind: 'apply' })).rejects.toThrow('a draft of what comes from infra can be planned only')

  await note.getByRole('button', { name: 'Stop editing' }).click()
  await note.getByText('It can be planned only').waitFor()
  expect(await page.getByRole('button', { name: 'New file' }).count()).toBe(0)
  expect(await violations(page)).toEqual([])
  // The repository's configuration takes the draft's place, and may be applied.
  await server.call('POST', '/api/v1/layers/prod%2Fapp/-/sync')
  await expect.poll(() => server.text('/api/v1/workspaces/prod%2Fapp/-/files/app/main.tf'), { timeout: 300_000, interval: 200 }).toBe(before)
  expect(complaints).toEqual([])
  await page.context().close()
})

const drifted = (name: string, more = {}) => ({ layer: name, address: `aws_instance.web["${hostile}"]`, type: 'aws_instance', action: 'changed', attributes: ['tags.LastScan', 'instance_type'], since: '2026-01-02T03:04:05Z', run: '01JD8X6Q4ZK4T1M5S0R9V7E2WB', ...more })

test.each([false, true])('drift is a map over all workspaces, its causes stand once, and each part leads to what it counts, in the dark: %s', async (dark) => {
  const { page, complaints } = await enter(browser, server, '/', { dark })
  const all = [layer('prod/a', { drifted: 2 }), layer('prod/b', { drifted: 1, state: 'PlanNeeded' }), layer('prod/c'), layer('dev/d', { checked_at: null }), layer('dev/e', { state: 'MaxRetriesReached', settings: { ...layer('x').settings, drift: { off: true } } })]
  await page.route('**/api/v1/workspaces?*', (route) => route.fulfill({ json: { workspaces: [], next: null } }))
  await page.route('**/api/v1/layers?*', (route) => route.fulfill({ json: { layers: all, next: null } }))
  await page.route('**/api/v1/layers/prod%2Fa', (route) => route.fulfill({ json: all[0]! }))
  await page.route('**/api/v1/drift', (route) => route.fulfill({ json: { causes: [{ type: 'aws_instance', action: 'changed', attributes: ['tags.LastScan'], since: '2026-01-02T03:04:05Z', count: 3, layers: 2, resources: [drifted('prod/a'), drifted('prod/b')] }] } }))
  const days = Array.from({ length: 30 }, (_, index) => ({ day: `2026-01-${String(index + 1).padStart(2, '0')}`, checks: 12, found: 2, layers: 4, drifted: index % 3, resources: 3, new: 1, healed: index % 2 }))
  let checked = false
  await page.route('**/api/v1/drift/trend', (route) => route.fulfill({ json: { days: checked ? days : days.map(({ day }) => ({ day, checks: 0, found: 0, layers: 0, drifted: 0, resources: 0, new: 0, healed: 0 })) } }))
  await page.route('**/api/v1/layers/prod%2Fa/-/drift', (route) => route.fulfill({
    json: {
      run: '01JD8X6Q4ZK4T1M5S0R9V7E2WB',
      at: '2026-01-02T03:04:05Z',
      resources: [drifted('prod/a', { claims: [{ kind: 'state', name: 'prod/c', at: '2026-01-02T03:04:05Z' }] }), drifted('prod/a', { address: 'aws_eip.x', expected: 'e1' }), drifted('prod/a', { address: 'aws_eip.y', ignored: true, action: 'deleted', attributes: [] })],
      expectations: [{ id: 'e1', address: 'aws_eip.*', attribute: 'tags', owner: 'security', reason: 'the scanner sets it', expires: '2027-01-01T00:00:00Z', by: { key_id: 'k', key_name: 'ana' }, at: '2026-01-02T03:04:05Z' }],
      checks: [{ at: '2026-01-02T03:04:05Z', run: '01JD8X6Q4ZK4T1M5S0R9V7E2WB', drifted: 1, expected: 1, new: 1, healed: 0 }],
    },
  }))
  await page.goto('/ui/layers?tab=drift')
  const prod = page.getByRole('group', { name: 'prod/: 3 workspaces' })
  await prod.getByRole('link', { name: 'As planned 1' }).waitFor()
  await page.getByRole('group', { name: 'dev/: 2 workspaces' }).getByRole('link', { name: 'Checks are off 1' }).waitFor()
  await page.getByRole('list', { name: 'Causes of drift' }).getByText('3 resources in 2 layers').waitFor()
  await page.getByText('No layer was checked in 30 days.').waitFor()
  checked = true
  await page.reload()
  await page.getByText('360 checks found 30 resources newly drifted; 15 resources healed.').waitFor()
  const trend = page.getByRole('table', { name: 'Layers that had drifted, by day in UTC' })
  await trend.getByRole('row').nth(2).getByText('4 layers checked, 2 of them drifted; 12 checks, 1 new, 0 healed').waitFor({ state: 'attached' })
  await page.locator('canvas').waitFor()
  await picture(page, `trend-${String(dark)}`)
  await prod.getByRole('link', { name: 'As planned 1' }).waitFor()
  expect(await violations(page)).toEqual([])
  await prod.getByRole('link', { name: 'Drifted 2' }).click()
  await page.getByRole('link', { name: 'prod/b' }).waitFor()
  expect(await page.getByRole('link', { name: 'prod/c' }).count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await page.getByRole('link', { name: 'prod/a' }).click()
  await page.getByRole('tab', { name: 'Drift (2)' }).click()
  await page.getByRole('list', { name: 'Resources that differ' }).getByText('ignored by the settings').waitFor()
  await page.getByRole('table', { name: 'Expected drift' }).getByText('the scanner sets it').waitFor()
  expect(await page.locator('img').count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  await page.goto('/ui/layers?tab=drift')
  await prod.waitFor()
  await page.locator('canvas').waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  expect(complaints).toEqual([])
  await page.context().close()
})
