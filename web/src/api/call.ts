import createClient from 'openapi-fetch'
import { failureOf, unreachable } from './failure'
import type { paths } from './schema'
import { named, signedIn } from './signedIn'

/** The server, as its description has it: an address, a parameter or a body that it doesn't have is no program. */
export const server = createClient<paths>({ credentials: 'same-origin', headers: { Accept: 'application/json' } })
server.use({ onRequest: ({ request }) => named(request) })

type Filled<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> }

/** filled leaves out members that are undefined. */
export function filled<T extends object>(all: T): Filled<T> {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Filled<T>
}

interface Answer<T> {
  data?: T
  error?: unknown
  response: Response
}

/** answer is what a request is answered; what is refused, or never answered, is thrown. */
export async function answer<T>(asked: Promise<Answer<T>>): Promise<T> {
  return (await answered(asked)).data as T
}

/** answered is answer with what stands around the data. */
export async function answered<T>(asked: Promise<Answer<T>>): Promise<Answer<T>> {
  let got: Answer<T>
  try {
    got = await asked
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw unreachable()
  }
  if (!got.response.ok) {
    const failure = failureOf(got.response, got.error)
    signedIn.refused(failure)
    throw failure
  }
  return got
}

/** bytesAs has a request send bytes as they are; the description knows them as text. */
export function bytesAs(bytes: Uint8Array<ArrayBuffer>): { body: never; bodySerializer: () => Uint8Array<ArrayBuffer>; headers: Record<string, string> } {
  return { body: bytes as never, bodySerializer: () => bytes, headers: { 'Content-Type': 'application/octet-stream' } }
}

/** pages reads all pages of a list. */
export async function pages<Page extends { next: string | null }, Item>(read: (cursor: string | undefined) => Promise<Page>, items: (page: Page) => Item[]): Promise<Item[]> {
  const all: Item[] = []
  let cursor: string | undefined
  do {
    const page = await read(cursor)
    all.push(...items(page))
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
  return all
}
