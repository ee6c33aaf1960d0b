import { expect, test } from 'vitest'
import { below, height, least, space, steps } from './axis'

/** stepOf is the step that the chart takes for what the axis goes up to, as uPlot does: the first that is far enough apart. */
const stepOf = (most: number) => steps.find((step) => (step / most) * (height - 2 * below) >= space)

test('an axis of counts has a number beside 0, however many there are', () => {
  for (let most = least; most <= 20_000_000; most = Math.ceil(most * 1.001)) {
    const step = stepOf(most)
    expect(step, String(most)).toBeDefined()
    expect(step!, String(most)).toBeLessThanOrEqual(most)
  }
})
