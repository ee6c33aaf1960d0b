const minute = 60
const hour = 60 * minute
const day = 24 * hour

const steps: [limit: number, size: number, unit: string][] = [
  [minute, 1, 's'],
  [hour, minute, 'min'],
  [2 * day, hour, 'h'],
  [60 * day, day, 'd'],
  [730 * day, 30 * day, 'months'],
  [Infinity, 365 * day, 'years'],
]

/** span says how long something takes or took, in its largest unit. */
export function span(seconds: number): string {
  const size = Math.abs(seconds)
  const [, unit, name] = steps.find(([limit]) => size < limit)!
  return `${String(Math.floor(size / unit))} ${name}`
}

/** ago says when something was, seen from now. */
export function ago(at: Date, now: Date): string {
  const seconds = (now.getTime() - at.getTime()) / 1000
  if (Math.abs(seconds) < 5) return 'now'
  return seconds > 0 ? `${span(seconds)} ago` : `in ${span(seconds)}`
}

/** exact is a time in the reader's zone, to the second. */
export function exact(at: Date): string {
  return at.toLocaleString(undefined, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  })
}
