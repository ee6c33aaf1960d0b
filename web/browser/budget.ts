import { gzipSync } from 'node:zlib'
import type { CDPSession, Page, Response } from 'playwright-core'

/** markUsable has a page note when a heading is there, and say so: a test that looks a moment later would take what comes behind it for part of it. */
async function markUsable(page: Page, heading: string): Promise<void> {
  await page.addInitScript((text) => {
    const observer = new MutationObserver(() => {
      if (![...document.querySelectorAll('h2')].some((one) => one.textContent === text)) return
      performance.mark('usable')
      const { sayUsable } = globalThis as { sayUsable?: (at: string) => void }
      sayUsable?.(String(performance.now()))
      observer.disconnect()
    })
    observer.observe(document, { childList: true, subtree: true })
  }, heading)
}

/**
 * scriptBytes loads an address afresh and returns how many bytes of JavaScript, in gzip, were asked for before a heading was
 * there.
 */
export async function scriptBytes(page: Page, path: string, heading: string): Promise<number> {
  await markUsable(page, heading)
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

/** slowed has the page's processor be so many times slower, and returns what to ask the browser with. */
export async function slowed(page: Page, times: number): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: times })
  return session
}

/**
 * usableAfter loads an address afresh and returns the milliseconds until a heading is there: by the clock, and of the
 * processor's time alone, which other programs on the machine don't take part in. The page itself says when: to be asked again
 * and again would be work of its own thread.
 */
export async function usableAfter(page: Page, path: string, heading: string, times: number): Promise<{ clock: number; processor: number }> {
  const session = await slowed(page, times)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  await session.send('Runtime.enable')
  await session.send('Runtime.addBinding', { name: 'sayUsable' })
  const usable = new Promise<number>((resolve) => { session.once('Runtime.bindingCalled', ({ payload }) => { resolve(Number(payload)) }) })
  await markUsable(page, heading)
  await page.goto(`/ui${path}`, { waitUntil: 'commit' })
  const clock = await usable
  const { metrics } = await session.send('Performance.getMetrics')
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
