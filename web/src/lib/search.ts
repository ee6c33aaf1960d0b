/**
 * texts picks the members of an address's query that a page knows. Those that read like numbers come
 * as numbers from the router, and are the text they were.
 */
export function texts<Name extends string>(search: Record<string, unknown>, ...names: Name[]): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value = search[name]
    if (typeof value === 'string' && value !== '') found[name] = value
    if (typeof value === 'number' || typeof value === 'boolean') found[name] = String(value)
  }
  return found
}

/** list is a member of an address's query that has several texts, or the one that somebody wrote by hand; none where there are none. */
export function list<Name extends string>(search: Record<string, unknown>, ...names: Name[]): Partial<Record<Name, string[]>> {
  const found: Partial<Record<Name, string[]>> = {}
  for (const name of names) {
    const value = search[name]
    const all = (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string' && one !== '')
    if (all.length > 0) found[name] = all
  }
  return found
}

/** Turned says which folders somebody has opened or closed; of the others the page decides. */
export type Turned = ReadonlyMap<string, boolean>

/** Folders is Turned as an address has it. */
export interface Folders {
  open?: string[] | undefined
  closed?: string[] | undefined
}

/** turnedOf reads the folders of an address. */
export function turnedOf({ open = [], closed = [] }: Folders): Turned {
  return new Map([...closed.map((path) => [path, false] as const), ...open.map((path) => [path, true] as const)])
}

/** turned is the folders of an address after one of them was opened or closed. */
export function turned({ open = [], closed = [] }: Folders, path: string, opens: boolean): Required<Folders> {
  const without = (paths: string[]) => paths.filter((other) => other !== path)
  const some = (paths: string[]) => (paths.length > 0 ? paths : undefined)
  return { open: some(opens ? [...without(open), path] : without(open)), closed: some(opens ? without(closed) : [...without(closed), path]) }
}
