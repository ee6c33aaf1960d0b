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
