import { gzipSync } from 'node:zlib'
import type { Page, Response } from 'playwright-core'

/**
 * scriptBytes loads an address afresh and returns how many bytes of JavaScript, in gzip, were asked for before a heading was
 * there. The page itself notes when that is: a test that looks a moment later would count what comes behind it.
 */
export async function scriptBytes(page: Page, path: string, heading: string): Promise<number> {
  await page.addInitScript((text) => {
    const observer = new MutationObserver(() => {
      if (![...document.querySelectorAll('h2')].some((one) => one.textContent === text)) return
      performance.mark('usable')
      observer.disconnect()
    })
    observer.observe(document, { childList: true, subtree: true })
  }, heading)
  const bodies = new Map<string, Promise<Buffer>>()
  const listen = (response: Response) => {
    if (new URL(response.url()).pathname.endsWith('.js')) bodies.set(response.url(), response.body())
  }
  page.on('response', listen)
  await page.goto(`/ui${path}`)
  await page.getByRole('heading', { name: heading }).waitFor()
  const before = await page.evaluate(() => {
    const usable = performance.getEntriesByName('usable')[0]?.startTime ?? Infinity
    return performance.getEntriesByType('resource').filter(({ startTime }) => startTime < usable).map(({ name }) => name)
  })
  page.off('response', listen)
  let size = 0
  for (const [url, body] of bodies) {
    const bytes = gzipSync(await body, { level: 9 }).length
    if (before.includes(url)) size += bytes
  }
  return size
}
