import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'

/** scriptBytes loads an address afresh and returns how many bytes of JavaScript, in gzip, came before the page was usable. */
export async function scriptBytes(page: Page, path: string, usable: () => Promise<unknown>): Promise<number> {
  const bodies: Promise<Buffer>[] = []
  page.on('response', (response) => {
    if (new URL(response.url()).pathname.endsWith('.js')) bodies.push(response.body())
  })
  await page.goto(`/ui${path}`)
  await usable()
  const loaded = await Promise.all(bodies)
  return loaded.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0)
}
