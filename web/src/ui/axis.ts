/** How high a chart of days is, and what of that its lower axis takes. */
export const height = 120
export const below = 24
/** The least distance of two numbers at the axis of counts. */
export const space = 24

/** The least that the axis goes up to. */
export const least = 4

/**
 * steps are what the numbers of an axis of counts may be apart: 1, 2 and 5 of each power of ten. No step is more than two
 * and a half times the one before, so that there is always one that has a number beside 0 on the axis.
 */
export const steps: number[] = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat()
