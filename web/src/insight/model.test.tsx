import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { Model } from './Model'

test('what a model says is marked as no fact, and is text whatever is in it', () => {
  const hostile = '<img src=x onerror=alert(1)> **bold** [link](javascript:alert(1))'
  render(<Model said={{ model: 'some-model', summary: hostile, findings: [{ severity: 'high', resource: hostile, description: hostile, recommendation: hostile }] }} />)
  const section = screen.getByRole('region', { name: 'What a model says, which is no fact' })
  expect(section.textContent).toContain('By the model some-model.')
  expect(section.textContent).toContain(hostile)
  expect(screen.getByRole('list', { name: 'Findings of the model' }).textContent).toContain('high')
  expect(section.querySelector('img, a, strong')).toBeNull()
})

test('a model that has said nothing says why', () => {
  render(<Model said={{ model: 'some-model', error: 'it has not answered in 20s' }} />)
  expect(screen.getByText('The model some-model has said nothing: it has not answered in 20s')).toBeTruthy()
  expect(screen.queryByRole('list')).toBeNull()
})
