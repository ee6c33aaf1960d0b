import { gzipSync } from 'node:zlib'
import type { Cookie, Page, Response } from 'playwright-core'
import type { BareBrowser } from './bare'

/** whenUsable has a page note when a heading is there: a test that looks a moment later would take what comes behind it for part of it. */
function whenUsable(heading: string): void {
  const observer = new MutationObserver(() => {
    if (![...document.querySelectorAll('h2')].some((one) => one.textContent === heading)) return
    const { startTime } = performance.mark('usable')
    // An address is what a browser tells without having to watch scripts. The page's own method would tell the page too.
    History.prototype.replaceState.call(history, history.state, '', `#usable=${String(startTime)}`)
    observer.disconnect()
  })
  observer.observe(document, { childList: true, subtree: true })
}

/**
 * scriptBytes loads an address afresh and returns how many bytes of JavaScript, in gzip, were asked for before a heading was
 * there.
 */
export async function scriptBytes(page: Page, path: string, heading: string): Promise<number> {
  await page.addInitScript(whenUsable, heading)
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

/**
 * usableAfter loads an address afresh, as somebody with these cookies, and returns the milliseconds until a heading is there: by
 * the clock, and of the processor's time alone, which other programs on the machine don't take part in. The page itself says
 * when: to be asked again and again would be work of its own thread.
 */
export async function usableAfter(browser: BareBrowser, url: string, cookies: Cookie[], heading: string, times: number): Promise<{ clock: number; processor: number }> {
  const { browserContextId } = await browser.send('Target.createBrowserContext')
  await browser.send('Storage.setCookies', { browserContextId, cookies })
  const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank', browserContextId })
  const sessionId = (await browser.send('Target.attachToTarget', { targetId, flatten: true })).sessionId as string
  const ask = (method: string, params = {}) => browser.send(method, params, sessionId)
  await ask('Emulation.setCPUThrottlingRate', { rate: times })
  await ask('Performance.enable', { timeDomain: 'threadTicks' })
  await ask('Page.enable')
  await ask('Page.addScriptToEvaluateOnNewDocument', { source: `(${whenUsable.toString()})(${JSON.stringify(heading)})` })
  const usable = browser.heard('Page.navigatedWithinDocument', sessionId, ({ url }) => /#usable=(.*)$/.exec(url as string)?.[1])
  await ask('Page.navigate', { url })
  const clock = Number(await usable)
  const metrics = (await ask('Performance.getMetrics')).metrics as { name: string; value: number }[]
  await browser.send('Target.disposeBrowserContext', { browserContextId })
  return { clock, processor: 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Infinity) }
}

/** heapOf returns how many bytes a page's scripts hold once what nobody needs is gone. */
export async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  for (let times = 0; times < 3; times++) await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize
}

/** Frame is how long a frame took: by the clock, and of the processor's time alone, which other programs don't take part in. */
export interface Frame {
  clock: number
  processor: number
}

/** framesOf scrolls through what has many rows, step by step and then in leaps. Without a name it is the window that scrolls. */
export async function framesOf(page: Page, region?: string): Promise<Frame[]> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const spent = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Infinity)
  }
  const frames: Frame[] = []
  for (let step = 1; step <= 60; step++) {
    const before = await spent()
    const clock = await scrolled(page, region, step <= 40 ? { by: 300 } : { to: ((step * 37) % 41) / 41 })
    frames.push({ clock, processor: (await spent()) - before })
  }
  await session.detach()
  return frames
}

/** scrolled scrolls by pixels, or to a share of all, and returns how long it is until that is seen. */
function scrolled(page: Page, region: string | undefined, way: { by: number } | { to: number }): Promise<number> {
  return page.evaluate(async ({ region, way }) => {
    const named = region === undefined ? null : document.querySelector(`[aria-label="${region}"]`)
    const part = named ?? document.scrollingElement!
    const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve))
    const before = await frame()
    part.scrollTop = 'by' in way ? part.scrollTop + way.by : way.to * part.scrollHeight
    return (await frame()) - before
  }, { region, way })
}

/** median is the middle one. */
export function median(numbers: number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN
}
