import { fireEvent, render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import type { InsightFinding } from '@/api/types'
import { Costs } from './Costs'
import { countsBySeverity, sorted, webAddress } from './findings'
import { Findings } from './Findings'

const finding = (severity: string, more: Partial<InsightFinding> = {}): InsightFinding => ({
  rule: 'R-1', severity, kind: 'access', resource: 'a.b', title: 'A door', description: 'it is open', recommendation: 'Close it.', ...more,
})

test('what counts is apart from what stays as it is, and from what is waived', () => {
  const waived = finding('high', { waived: { owner: 'ann', reason: 'fine', expires: '2027-01-01' }, standing: true })
  const standing = finding('high', { standing: true })
  const open = finding('low')
  expect(sorted({ findings: [waived, standing, open] })).toEqual({ open: [open], standing: [standing], waived: [waived] })
})

test('severities are counted, the gravest first, whatever order they come in', () => {
  expect(countsBySeverity(['low', 'critical', 'low', 'odd'].map((severity) => finding(severity)))).toEqual([['critical', 1], ['low', 2], ['odd', 1]])
})

test.each([
  ['https://example.com/a b', 'https://example.com/a%20b'],
  ['http://example.com/', 'http://example.com/'],
  ['javascript:alert(1)', undefined],
  [' JavaScript:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['//example.com', undefined],
  ['', undefined],
  [undefined, undefined],
])('the link %j leads to %j', (link, expected) => {
  expect(webAddress(link)).toBe(expected)
})

test('a finding says how grave it is in a word, and what is hostile in it is text', () => {
  const hostile = '<img src=x onerror=alert(1)>'
  render(<Findings label="Findings" findings={[finding('critical', { title: hostile, resource: hostile, link: 'javascript:alert(1)' })]} />)
  const list = screen.getByRole('list', { name: 'Findings' })
  expect(list.textContent).toContain('critical')
  expect(list.textContent).toContain(hostile)
  expect(list.querySelector('img, a')).toBeNull()
})

test('of many findings the first hundred are shown, and more when they are asked for', () => {
  render(<Findings label="Findings" findings={Array.from({ length: 150 }, (_, index) => finding('low', { resource: `a.b[${String(index)}]` }))} />)
  expect(screen.getAllByRole('listitem')).toHaveLength(100)
  fireEvent.click(screen.getByRole('button', { name: 'Show 50 more of 150' }))
  expect(screen.getAllByRole('listitem')).toHaveLength(150)
  expect(screen.queryByRole('button')).toBeNull()
})

test('what has no price is said to be neither counted nor free', () => {
  render(<Costs costs={{ estimated: [], aiEstimated: [], unpriced: ['acme_thing.x'], totalMonthly: '$0.00', deltaMonthly: '+$0.00', pricesDate: '' }} />)
  expect(screen.getByText('1 resource without a known price: not counted, and not free')).toBeTruthy()
  expect(screen.queryByText('$0.00', { exact: false })).toBeNull()
})
