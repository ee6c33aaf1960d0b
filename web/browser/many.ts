import type { Server } from './server'

/** each does something for the numbers below a count, eight at a time. */
async function each(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(Array.from({ length: 8 }, async () => {
    while (next < count) await work(next++)
  }))
}

function stateOf(serial: number, resources: object[] = []): object {
  return { version: 4, terraform_version: '1.12.6', serial, lineage: '5f0c2b1e-3d57-4c0e-9f5a-0a6d1f1b7c11', outputs: {}, resources, check_results: null }
}

/** manyWorkspaces makes workspaces in folders. */
export function manyWorkspaces(server: Server, count: number): Promise<void> {
  return each(count, (index) => server.call('POST', '/api/v1/workspaces', { name: `many/of-${String(index % 10)}/workspace-${String(index).padStart(5, '0')}`, tool: 'opentofu', version: '1.12.6' }))
}

/** manyVersions writes a state so many times. */
export function manyVersions(server: Server, state: string, count: number): Promise<void> {
  return each(count, (index) => server.call('POST', `/api/v1/state/${encodeURIComponent(state)}`, stateOf(index + 1)))
}

/** manyLines is a configuration whose apply prints so many lines. */
export function manyLines(count: number): Record<string, string> {
  return { 'main.tf': `resource "terraform_data" "much" {\n  provisioner "local-exec" {\n    command = "seq -f 'line %.0f of what takes an hour' 1 ${String(count)}"\n  }\n}\n` }
}
