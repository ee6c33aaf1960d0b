import { expect, test } from 'vitest'
import { branchesOf, modulesOf } from './modules'

test('an address is taken apart into modules and what is in them', () => {
  expect(modulesOf('aws_vpc.main[0]')).toEqual({ modules: [], rest: 'aws_vpc.main[0]' })
  expect(modulesOf('module.net["eu.west]"].module.a.data.aws_ami.x["k"]')).toEqual({ modules: ['module.net["eu.west]"]', 'module.a'], rest: 'data.aws_ami.x["k"]' })
  expect(modulesOf('modules.x')).toEqual({ modules: [], rest: 'modules.x' })
})

test('changes are a tree by module, and a closed module hides what is in it', () => {
  const all = ['module.b.x.y', 'root.a', 'module.a.module.c.x.y', 'module.a.x.y'].map((address) => ({ address }))
  const labels = (closed: string[]) => branchesOf(all, new Set(closed)).map((row) => `${' '.repeat(row.depth)}${row.label}`)
  expect(labels([])).toEqual(['root.a', 'module.a', ' x.y', ' module.c', '  x.y', 'module.b', ' x.y'])
  expect(labels(['module.a'])).toEqual(['root.a', 'module.a', 'module.b', ' x.y'])
})
