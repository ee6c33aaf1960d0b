import { render } from '@testing-library/react'
import { expect, test } from 'vitest'
import { Words } from './words'

function shown(text: string): HTMLElement {
  return render(<Words text={text} />).container
}

test('a summary is paragraphs, bullets, bold words and code', () => {
  const all = shown("**2 to add.**\n- Can't be undone: `a.b`: its data\\_base\n- Cost: $1\nNeeds approval: 1 finding")
  expect(all.querySelector('strong')?.textContent).toBe('2 to add.')
  expect([...all.querySelectorAll('li')].map((item) => item.textContent)).toEqual(["Can't be undone: a.b: its data_base", 'Cost: $1'])
  expect(all.querySelector('code')?.textContent).toBe('a.b')
  expect([...all.querySelectorAll('p')].map((item) => item.textContent)).toEqual(['2 to add.', 'Needs approval: 1 finding'])
})

test.each([
  ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
  ['[click](javascript:alert(1))', '[click](javascript:alert(1))'],
  ['![x](https://evil.example/x.png)', '![x](https://evil.example/x.png)'],
  ['<https://evil.example>', '<https://evil.example>'],
  ['`<b>`', '<b>'],
  ['\\*\\*not bold\\*\\*', '**not bold**'],
  ['\\`no code\\`', '`no code`'],
  ['&lt;b&gt; &amp;lt; &#64;all', '<b> &lt; @all'],
  ['&#60;script&#62; &nbsp;', '&#60;script&#62; &nbsp;'],
  ['**bold without an end', '**bold without an end'],
  ['`code without an end', '`code without an end'],
  ['# title', '# title'],
])('%j is text', (text, expected) => {
  const all = shown(text)
  expect(all.textContent).toBe(expected)
  expect(all.querySelector('img, a, b, script, h1')).toBeNull()
})
