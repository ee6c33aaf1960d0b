import type { Json, RunChange } from '@/api/types'

/** signOf is how the tools mark a change, with its word. */
export function signOf(actions: string[]): [sign: string, word: string, tone: 'done' | 'person' | 'loss' | 'still'] {
  const all = actions.join(' ')
  if (all.includes('delete') && all.includes('create')) return ['±', 'replaced', 'loss']
  if (all.includes('create')) return ['+', 'new', 'done']
  if (all.includes('delete')) return ['-', 'destroyed', 'loss']
  if (all.includes('update')) return ['~', 'changed in place', 'person']
  if (all.includes('forget')) return ['.', 'forgotten', 'person']
  if (all.includes('read')) return ['<', 'read', 'still']
  return [' ', 'unchanged', 'still']
}

/** Difference is an attribute at the top level that a plan changes. */
export interface Difference {
  name: string
  before?: Json
  after?: Json
  unknown: boolean
}

/** differencesOf lists the attributes that a change changes, by name. What is known after the apply only is unknown. */
export function differencesOf({ before, after, after_unknown: unknown }: Pick<RunChange, 'before' | 'after' | 'after_unknown'>): Difference[] {
  const was = objectOf(before)
  const is = objectOf(after)
  const later = objectOf(unknown ?? null)
  const names = [...new Set([...Object.keys(was), ...Object.keys(is), ...Object.keys(later)])].sort()
  return names
    .map((name) => ({
      name,
      ...(was[name] === undefined || was[name] === null ? {} : { before: was[name] }),
      ...(is[name] === undefined || is[name] === null ? {} : { after: is[name] }),
      unknown: later[name] !== undefined && later[name] !== false && is[name] == null,
    }))
    .filter((one) => one.unknown || JSON.stringify(one.before) !== JSON.stringify(one.after))
}

function objectOf(value: Json): Record<string, Json | undefined> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {}
}
