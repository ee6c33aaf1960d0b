import type { Page } from 'playwright-core'
import { GitServer } from './git'
import type { Server } from './server'

export const hostile = '<img src=x onerror=alert(1)>'

/** Place is an address of the page, and a text that is there once it has what it shows. */
export interface Place {
  name: string
  path: string
  text: string
  /** The right without which the page is not offered, and its data are refused. */
  right?: string
  /** What the page asks the server for, which that right decides on. */
  data?: string
  /** The tab that shows it, which is not there without the right. */
  tab?: string
}

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

// What rules find: the example key of AWS's own documentation.
const leak = 'resource "terraform_data" "mail" { input = "AKIAIOSFODNN7EXAMPLE" }'

/** partition is a configuration with the record of the partition of an enclave that it is. */
export function partition(path: string, needs: string[]): Record<string, string> {
  const [enclave = '', name = ''] = path.split('/')
  return {
    'main.tf': `resource "terraform_data" "${name}" {}\n`,
    '.holdfast/partition.json': JSON.stringify({ format: 1, set: 'default', enclave, partition: name, produces: 'tcp', backend: 'opentofu', needs }),
  }
}

/** layer has a repository with a layer, which the server plans while other things go on. */
async function layer(server: Server): Promise<void> {
  const git = server.has(await GitServer.start())
  git.commit('infra', `Begin ${hostile}`, { 'app/main.tf': 'resource "terraform_data" "app" {}\n' })
  server.holdfast(['repo', 'add', 'infra', git.url('infra')])
  // By the API: while a command goes on, nothing else does here, the repositories' server too.
  await server.call('POST', '/api/v1/repositories/infra/fetch')
  server.holdfast(['layer', 'add', 'layered/app', '--repository', 'infra', '--path', 'app', '--tool', 'opentofu', '--version', '1.12.6', '--check-every', 'off'])
}

/** planned waits until the layer is planned. */
async function planned(server: Server): Promise<void> {
  for (;;) {
    const { state, failures } = await server.call<{ state: string; failures: number }>('GET', '/api/v1/layers/layered%2Fapp')
    if (state === 'ApplyNeeded') return
    if (failures > 0) throw new Error('the layer could not be planned')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Furnished is what the server of these tests has: two versions, a failed run, and one that waits for somebody. */
export interface Furnished {
  waiting: string
  failed: string
}

/** furnish has somebody work at a terminal for a while. */
export async function furnish(server: Server): Promise<Furnished> {
  await layer(server)
  server.workspace('prod/network', configuration(443))
  server.holdfast(['run', 'apply', 'prod/network', '--auto-approve', '--message', hostile])
  server.push('prod/network', configuration(8443, 'resource "terraform_data" "extra" {}'))
  server.holdfast(['run', 'apply', 'prod/network', '--auto-approve'])
  server.workspace('dev/broken', { 'main.tf': 'output "x" {\n  value = local.nothing\n}\n' })
  server.holdfast(['run', 'plan', 'dev/broken'], [0, 1, 2, 3, 4, 5])
  server.workspace('shop/db', partition('shop/db', []))
  server.workspace('shop/api', partition('shop/api', ['shop/db']))
  server.holdfast(['run', 'apply', 'shop/db', '--auto-approve'])
  // The newest plan is the one that waits.
  await planned(server)
  server.push('prod/network', configuration(9443, leak))
  server.holdfast(['run', 'apply', 'prod/network'], [0, 1, 2, 3, 4, 5])
  await server.call('POST', '/api/v1/pools', { name: 'inside', workspaces: ['prod/**'] })
  const one = async (status: string) => (await server.call<{ runs: { id: string }[] }>('GET', `/api/v1/runs?status=${status}`)).runs[0]!.id
  return { waiting: await one('awaiting_approval'), failed: await one('failed') }
}

/** everyPage is each page of the program, and each of its parts that has an address. */
export function everyPage({ waiting, failed }: Furnished): Place[] {
  const state = '/states/prod/network'
  const history = '/resources/history?state=prod%2Fnetwork&address=terraform_data.web'
  const ofState = '/api/v1/state/prod%2Fnetwork'
  const ofRun = `/api/v1/runs/${waiting}`
  return [
    { name: 'home', path: '/', text: 'Runs ended, 7 days' },
    { name: 'states', path: '/states', text: 'network', right: 'state:metadata', data: '/api/v1/states' },
    { name: 'state', path: state, text: 'Version 2', right: 'state:metadata', data: `${ofState}/-/versions` },
    { name: 'resources-of-state', path: `${state}?tab=resources`, text: 'terraform_data.web', right: 'state:read', data: `${ofState}?view=redacted`, tab: 'Resources' },
    { name: 'graph', path: `${state}?tab=graph`, text: 'terraform_data.web', right: 'state:read', data: `${ofState}/-/graph`, tab: 'Graph' },
    { name: 'outputs', path: `${state}?tab=outputs`, text: 'greeting', right: 'state:outputs', data: `${ofState}/-/outputs`, tab: 'Outputs' },
    { name: 'candidates', path: `${state}?tab=candidates`, text: 'Nothing was kept back.', right: 'state:metadata', data: `${ofState}/-/candidates`, tab: 'Kept back' },
    { name: 'runs-of-state', path: `${state}?tab=runs`, text: 'succeeded', right: 'run:read', data: '/api/v1/runs?workspace=prod%2Fnetwork', tab: 'Runs' },
    { name: 'backend', path: `${state}?tab=use`, text: 'lock_address' },
    { name: 'resources', path: '/resources', text: 'terraform_data.web', right: 'state:read', data: '/api/v1/resources' },
    { name: 'coverage', path: '/resources?tab=coverage', text: 'unmanaged', right: 'data:read', data: '/api/v1/resources/coverage' },
    { name: 'history', path: history, text: 'version 1', right: 'state:read', data: '/api/v1/resources/terraform_data.web/history?state=prod%2Fnetwork' },
    { name: 'runs', path: '/runs', text: 'prod/network', right: 'run:read', data: '/api/v1/runs' },
    { name: 'run', path: `/runs/${waiting}`, text: 'terraform_data.extra', right: 'run:read', data: `${ofRun}/changes` },
    { name: 'insight', path: `/runs/${waiting}?tab=insight`, text: 'An access key of AWS stands in a plain value', right: 'run:read', data: `${ofRun}/insight` },
    { name: 'log', path: `/runs/${waiting}?tab=log`, text: 'Plan:', right: 'run:read', data: `${ofRun}/log?stream=plan` },
    { name: 'files-of-run', path: `/runs/${waiting}?tab=files`, text: 'main.tf', right: 'workspace:read', data: '/api/v1/workspaces/prod%2Fnetwork/-/files', tab: 'Files' },
    { name: 'made-of', path: `/runs/${waiting}?tab=about`, text: 'Configuration', right: 'run:read', data: ofRun },
    { name: 'events', path: `/runs/${waiting}?tab=events`, text: 'When', right: 'run:read', data: `${ofRun}/events` },
    { name: 'failed-run', path: `/runs/${failed}`, text: 'main.tf', right: 'run:read', data: `/api/v1/runs/${failed}` },
    { name: 'layers', path: '/layers', text: 'ApplyNeeded', right: 'workspace:read', data: '/api/v1/layers' },
    { name: 'drift', path: '/layers?tab=drift', text: 'No layer has drifted.', right: 'workspace:read', data: '/api/v1/drift' },
    { name: 'repositories', path: '/layers?tab=repositories', text: 'no credential', right: 'repository:read', data: '/api/v1/repositories', tab: 'Repositories' },
    { name: 'layer', path: '/layers/layered/app', text: 'NoApplyHasRun', right: 'workspace:read', data: '/api/v1/layers/layered%2Fapp' },
    { name: 'commits', path: '/layers/layered/app?tab=commits', text: 'planned last', right: 'workspace:read', data: '/api/v1/workspaces/layered%2Fapp/-/snapshots', tab: 'Commits' },
    { name: 'layer-drift', path: '/layers/layered/app?tab=drift', text: 'The layer was not checked yet.', right: 'workspace:read', data: '/api/v1/layers/layered%2Fapp/-/drift' },
    { name: 'layer-settings', path: '/layers/layered/app?tab=settings', text: 'Remediation', right: 'workspace:read', data: '/api/v1/layers/layered%2Fapp' },
    { name: 'enclaves', path: '/enclaves', text: 'shop', right: 'workspace:read', data: '/api/v1/workspaces' },
    { name: 'enclave', path: '/enclaves/shop', text: 'never applied', right: 'workspace:read', data: '/api/v1/workspaces/shop%2Fapi/-/files/.holdfast/partition.json' },
    { name: 'files', path: '/files', text: 'prod/network', right: 'workspace:read', data: '/api/v1/workspaces' },
    { name: 'editor', path: '/editor/prod/network', text: 'resource', right: 'workspace:read', data: '/api/v1/workspaces/prod%2Fnetwork/-/files/main.tf' },
    { name: 'audit', path: '/audit', text: 'prod/network', right: 'audit:read', data: '/api/v1/audit' },
    { name: 'settings', path: '/settings', text: 'Quotas and limits' },
    { name: 'kept', path: '/settings?tab=kept', text: 'guard_shrink_percent', right: 'state:metadata', data: '/api/v1/organization', tab: 'How states are kept' },
    { name: 'keys', path: '/settings?tab=keys', text: 'yours', right: 'key:read', data: '/api/v1/keys', tab: 'Keys' },
    { name: 'pools', path: '/settings?tab=pools', text: 'inside', right: 'run:read', data: '/api/v1/pools', tab: 'Agents and pools' },
    { name: 'policies', path: '/settings?tab=policies', text: 'Built-in rules look at every plan', right: 'run:read', data: '/api/v1/policies', tab: 'Policies' },
    { name: 'sessions', path: '/settings?tab=sessions', text: 'Sign out everywhere' },
  ]
}

/** open goes to a page and waits until what it shows is there. */
export async function open(page: Page, { path, text }: Place): Promise<void> {
  await page.goto(`/ui${path}`)
  await page.getByRole('main').getByText(text).filter({ visible: true }).first().waitFor()
}
