import { mkdirSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'
import { program, type Server } from './server'

/** openBrowser starts Debian's Chromium. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: program('CHROMIUM_BIN'),
    // A container has neither user namespaces for the browser's own sandbox nor much /dev/shm.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
}

/** Visit is a page that somebody has open, and what the browser complained about meanwhile. */
export interface Visit {
  page: Page
  complaints: string[]
}

/** visit opens the page in a window of its own, with cookies of its own. */
export async function visit(browser: Browser, server: Pick<Server, 'address'>, path = '/', options: { width?: number; height?: number; dark?: boolean } = {}): Promise<Visit> {
  const context = await browser.newContext({
    baseURL: server.address,
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
    colorScheme: options.dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  page.on('console', (message) => {
    // A refused request is part of signing in; what the page makes of it is looked at by the tests.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(`/ui${path}`)
  return { page, complaints }
}

/** signIn signs in with a key, by keyboard alone. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('Key').fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Holdfast' }).waitFor()
}

/** enter opens the page at an address as somebody who has signed in. */
export async function enter(browser: Browser, server: Server, path = '/', options: { width?: number; height?: number; dark?: boolean; key?: string } = {}): Promise<Visit> {
  const open = await visit(browser, server, path, options)
  await signIn(open.page, options.key ?? server.key)
  return open
}

/** picture keeps what the page looks like, where somebody asks for it. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.HOLDFAST_PICTURES
  if (!folder) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}
