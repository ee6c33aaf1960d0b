import { render } from '@testing-library/react'
import { expect, test } from 'vitest'
import { rich } from '@/testing/insight'
import { marked, marksOf } from './Marks'

const insight = rich('<b>hostile</b>')

test('a resource is marked with its findings that count, what can’t be undone, and how its cost changes', () => {
  const { container } = render(marksOf(insight)('aws_db_instance.main'))
  expect(container.textContent).toBe('⚠ can’t be undone▲1 high+$37.23 a month')
})

test('what stays as it is, what is waived and what costs the same has no mark', () => {
  const all = marked({ ...insight, costs: { ...insight.costs, estimated: [{ resource: 'a.b', monthlyCost: '$8.00', deltaMonthly: '+$0.00', source: 'x' }] } })
  expect([...all.keys()]).not.toEqual(expect.arrayContaining(['a.b']))
  expect(all.has('aws_ebs_volume.archive')).toBe(false)
  expect(all.has('module.bastion.aws_security_group.all')).toBe(false)
  expect(marksOf(insight)('nothing.known')).toBeNull()
})
