import type { OrganizationSetting } from '@/api/types'

/** Kind is how a setting is asked for: some values to choose from, or a line of text and what to write there. */
interface Kind {
  label: string
  means: string
  choices?: [value: string, means: string][]
  write?: string
}

const off = 'off'
const days = 'A number from 1 to 36500, or off.'

/** The settings of how states are kept. One that is not here yet has its name, and is a line of text. */
const kinds: Record<string, Kind> = {
  keep_versions: { label: 'Versions that are kept', means: 'of each state; older ones are removed', write: 'A number from 1 to 1000000, or off for all.' },
  keep_days: { label: 'Days that versions are kept', means: 'older ones are removed, but never the newest', write: days },
  deleted_days: { label: 'Days that deleted states are kept', means: 'so long one can be brought back', write: days },
  require_lock: { label: 'Writes need the lock', means: 'what changes a state without it is refused', choices: [['false', 'no'], ['true', 'yes']] },
  lock_ttl: { label: 'A silent lock can be taken over after', means: 'without a sign of life of its holder', write: 'A time such as 90m or 24h, longer than the longest apply is silent; or off.' },
  guards: { label: 'Guards', means: 'what happens to a write that looks like an accident', choices: [['warn', 'accept it and say so'], ['hold', 'keep it back until somebody decides'], [off, 'look at nothing']] },
  guard_shrink_percent: { label: 'Resources that may go in one write', means: 'in percent; more is what guards look for', write: 'A number from 0 to 100.' },
}

/** kindOf says how a setting is asked for. */
export function kindOf(name: string): Kind {
  return kinds[name] ?? { label: name, means: '' }
}

/** inWords is a value for people: with what it means where it is one of a few. */
export function inWords({ name, value }: { name: string; value: string }): string {
  const choice = kindOf(name).choices?.find(([one]) => one === value)
  if (choice) return name === 'require_lock' ? choice[1] : `${value}: ${choice[1]}`
  if (value === off) return name === 'lock_ttl' ? 'never' : name === 'keep_versions' ? 'all' : 'for ever'
  return name === 'guard_shrink_percent' ? `${value} %` : value
}

/** needsAnother says which other setting a setting waits for, or has to be read with; undefined for none. */
export function needsAnother(name: string, all: OrganizationSetting[]): string | undefined {
  const value = (of: string) => all.find((one) => one.name === of)?.value
  if (name === 'guard_shrink_percent' && value('guards') === off) return 'It has no effect while guards is off.'
  if ((name === 'keep_versions' || name === 'keep_days') && value('keep_versions') !== off && value('keep_days') !== off) return 'With both, a version goes that passes both.'
  return undefined
}

/** Values are what is in the fields, by setting. */
export type Values = Record<string, string>

/** valuesOf are the values that hold. */
export function valuesOf(all: OrganizationSetting[]): Values {
  return Object.fromEntries(all.map(({ name, value }) => [name, value]))
}

/** changesOf are the settings that are to be other ones than they were; an emptied field is the default. */
export function changesOf(base: OrganizationSetting[], wanted: Values): { name: string; value: string }[] {
  return base
    .map(({ name, value }) => ({ name, was: value, value: (wanted[name] ?? value).trim() }))
    .filter(({ value, was }) => value !== was)
    .map(({ name, value }) => ({ name, value }))
}

/** keepsLess says whether with these values something is removed that was kept before, or earlier. */
export function keepsLess(base: OrganizationSetting[], changes: { name: string; value: string }[]): boolean {
  const most = (text: string) => (text === off ? Infinity : Number(text))
  return changes.some(({ name, value }) => {
    const was = base.find((one) => one.name === name)
    return was !== undefined && ['keep_versions', 'keep_days', 'deleted_days'].includes(name) && most(value === '' ? was.default : value) < most(was.value)
  })
}
