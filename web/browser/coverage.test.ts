import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { violations } from './accessible'
import { enter, openBrowser } from './browser'
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

function state(instances: Record<string, string>): object {
  const resources = Object.entries(instances).map(([name, id]) => ({ mode: 'managed', type: 'aws_instance', name, provider: 'provider["registry.opentofu.org/hashicorp/aws"]', instances: [{ attributes: { id } }] }))
  return { version: 4, serial: 1, lineage: 'a', terraform_version: '1.12.6', outputs: {}, resources }
}

test('what is managed, unmanaged, missing and claimed twice is a picture, and each part opens what is in it', async () => {
  await server.call('POST', '/api/v1/state/prod%2Fa', state({ web: 'i-1', shared: 'i-2', gone: 'i-9' }))
  await server.call('POST', '/api/v1/state/prod%2Fb', state({ same: 'i-2' }))
  const seen = ['i-1', 'i-2', 'i-77'].map((id) => ({ resource_name: `seen ${id}`, attributes: { id } }))
  const { page, complaints } = await enter(browser, server, '/resources?tab=coverage')
  await page.getByText('Nothing was uploaded yet').waitFor()
  await server.call('POST', '/api/v1/upload', { provider: 'aws', category: 'compute', resource_type: 'vm_instance', instances: seen })
  await page.reload()
  const inStates = page.getByRole('group', { name: 'In states: 4 resources' })
  const uploaded = page.getByRole('group', { name: 'Uploaded: 3 resources' })
  await inStates.getByRole('button', { name: 'Claimed twice 2' }).waitFor()
  expect(await violations(page)).toEqual([])
  if (process.env.HOLDFAST_PICTURES) await page.screenshot({ path: `${process.env.HOLDFAST_PICTURES}/coverage-parts.png` })

  await uploaded.getByRole('button', { name: 'Unmanaged 1' }).click()
  await page.getByRole('table', { name: 'Unmanaged' }).getByText('i-77').first().waitFor()
  expect(new URL(page.url()).searchParams.get('status')).toBe('unmanaged')
  await inStates.getByRole('button', { name: 'Missing 1' }).click()
  const missing = page.getByRole('table', { name: 'Missing' })
  await missing.getByRole('link', { name: 'aws_instance.gone' }).waitFor()
  await inStates.getByRole('button', { name: 'Claimed twice 2' }).click()
  const twice = page.getByRole('row', { name: /aws_instance\.shared/ }).first()
  await twice.getByRole('link', { name: 'aws_instance.same' }).waitFor()
  await twice.getByRole('link', { name: 'aws_instance.shared' }).first().click()
  await page.waitForURL(/\/ui\/resources\/history/)
  await page.getByText('as it was first').waitFor()
  expect(complaints).toEqual([])
  await page.context().close()
})
