import type { AttributeChange } from '@/api/types'

/** Difference is a change of a value; unknown where the new value is known after the apply only. */
export interface Difference extends AttributeChange {
  unknown?: boolean
}

type Path = (string | number)[]

/** differences lists how one value became another, by paths. Objects are looked into, and lists of one length. */
export function differences(before: unknown, after: unknown, unknown: unknown = false, path: Path = []): Difference[] {
  if (unknown === true) return [{ path, ...part('before', before), unknown: true }]
  // What is hidden on both sides may be another one: nobody sees that it is not.
  if (isMasked(before) || isMasked(after)) return [{ path, ...part('before', before), ...part('after', after) }]
  const later = isObject(unknown) || Array.isArray(unknown) ? unknown : undefined
  if (isObject(before) || isObject(after)) {
    const was = isObject(before) ? before : before == null ? {} : undefined
    const is = isObject(after) ? after : after == null ? {} : undefined
    if (was && is && (path.length === 0 || (before != null && after != null) || later)) {
      const names = [...new Set([...Object.keys(was), ...Object.keys(is), ...Object.keys(isObject(later) ? later : {})])].sort()
      return names.flatMap((name) => differences(was[name], is[name], isObject(later) ? later[name] : false, [...path, name]))
    }
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((value, index) => differences(value, after[index], Array.isArray(later) ? later[index] : false, [...path, index]))
  }
  if (same(before, after)) return []
  const inside = jsonInside(before, after)
  return [{ path, ...part('before', before), ...part('after', after), ...(inside ? { inside } : {}) }]
}

/** unchanged is how many attributes of an object stay as they are. */
export function unchanged(before: unknown, after: unknown): number {
  if (!isObject(before) || !isObject(after)) return 0
  return Object.keys(before).filter((name) => before[name] !== null && !hides(before[name]) && JSON.stringify(before[name]) === JSON.stringify(after[name])).length
}

/** isMasked says that the server has put this in the place of a sensitive value. */
export function isMasked(value: unknown): boolean {
  return value === '(sensitive value)' || (isObject(value) && value['(sensitive)'] === true)
}

/** hides says that something in a value is masked. */
function hides(value: unknown): boolean {
  if (isMasked(value)) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(hides)
}

function part<Side extends 'before' | 'after'>(side: Side, value: unknown): Partial<Record<Side, unknown>> {
  return (value === undefined || value === null ? {} : { [side]: value }) as Partial<Record<Side, unknown>>
}

/** same says that values are equal; what is absent and what is null say the same in a plan. */
function same(before: unknown, after: unknown): boolean {
  return JSON.stringify(before ?? null) === JSON.stringify(after ?? null)
}

/** jsonInside is how the JSON in two strings differs; undefined where they hold none. */
function jsonInside(before: unknown, after: unknown): Difference[] | undefined {
  const was = jsonOf(before)
  const is = jsonOf(after)
  return was === undefined || is === undefined ? undefined : differences(was, is)
}

function jsonOf(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return undefined
  try {
    return JSON.parse(value) as unknown
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
