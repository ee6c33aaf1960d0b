/** Roles that a key may have, with what each may do. The server says no to one that is more than one's own. */
export const rolesOf: [role: string, means: string][] = [
  ['reader', 'reads states, runs and uploads'],
  ['writer', 'reads and writes states, plans and applies'],
  ['operator', 'plans and applies, reads no state'],
  ['approver', 'approves plans, reads no state'],
  ['outputs', 'reads outputs only'],
  ['uploader', 'uploads only'],
  ['auditor', 'reads the audit log'],
  ['owner', 'may do everything'],
]

/** wordsIn is the words of a line, with spaces or commas between. */
export function wordsIn(line: string): string[] {
  return line.split(/[\s,]+/).filter((word) => word !== '')
}

/** daysFrom is a time so many days later, as the API has times. */
export function daysFrom(now: Date, days: number): string {
  return new Date(now.getTime() + days * 86_400_000).toISOString()
}
