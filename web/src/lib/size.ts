const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** bytes says a size in the largest unit that keeps it at least 1. */
export function bytes(size: number): string {
  let unit = 0
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024
    unit++
  }
  return `${size >= 10 || unit === 0 ? String(Math.round(size)) : size.toFixed(1)} ${units[unit]!}`
}

/** count says how many there are of something, with thousands apart. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString()} ${number === 1 ? one : many}`
}

/** grouped is a number as the reader writes it. Small ones have no groups: the browser's tables of languages take long to load. */
export function grouped(number: number): string {
  return number < 1000 ? String(number) : number.toLocaleString()
}
