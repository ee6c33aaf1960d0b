import { render } from '@testing-library/react'
import { expect, test } from 'vitest'
import { coloured, plain } from './ansi'

function shown(line: string): HTMLElement {
  return render(<pre>{coloured(line)}</pre>).container.firstElementChild as HTMLElement
}

test('colours become classes', () => {
  const line = shown('a \u001b[32mgreen\u001b[0m word')
  expect(line.textContent).toBe('a green word')
  expect(line.querySelector('span')?.className).toBe('ansi-green')
})

test('markup in a log is text', () => {
  const line = shown('<img src=x onerror=alert(1)>\u001b[31m<b>&amp;</b>')
  expect(line.querySelector('img, b')).toBeNull()
  expect(line.textContent).toBe('<img src=x onerror=alert(1)><b>&amp;</b>')
})

test('links that a log asks for are text, whatever they lead to', () => {
  const line = shown('\u001b]8;;javascript:alert(1)\u0007click\u001b]8;;\u0007 me')
  expect(line.querySelector('a')).toBeNull()
  expect(line.textContent).toContain('click')
})

test('a colour ends with its line', () => {
  shown('\u001b[31mred')
  expect(shown('plain').querySelector('span')).toBeNull()
})

test('a line that was written over shows what came last', () => {
  expect(shown('10%\r50%\r100%').textContent).toBe('100%')
})

const hostile = ['\u001b]8;;http://x', '\u001b]8;;http://x\u0007link', '\u001b]0;title', '\u001bPq', '\u001b[38;5', '\u001b', '\u001b(', '\u001b_x', '\u001b^x', '\u001bXx']

test.each(hostile)('a line with the unfinished sequence %j hides no other line', (sequence) => {
  shown(sequence)
  expect(shown('plain').textContent).toBe('plain')
})

test.each(hostile)('the unfinished sequence %j hides nothing that stands behind it in its line', (sequence) => {
  expect(shown(`before ${sequence} – after`).textContent).toMatch(/^before .*– after$/)
})

test('what is looked for is what is seen', () => {
  expect(plain('a \u001b[1;31mred\u001b[0m \u001b]8;;https://x\u0007word\u001b]8;;\u001b\\ more')).toBe('a red word more')
})
