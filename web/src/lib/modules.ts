/** modulesOf takes the modules off an address: those it is in, the outermost first, and what is left. A key may have dots and brackets. */
export function modulesOf(address: string): { modules: string[]; rest: string } {
  const modules: string[] = []
  let rest = address
  for (;;) {
    const found = /^module\.[^.[]+(\[(?:"(?:[^"\\]|\\.)*"|[^\]]*)\])?(\.|$)/.exec(rest)
    if (!found) return { modules, rest }
    modules.push(found[0].replace(/\.$/, ''))
    rest = rest.slice(found[0].length)
  }
}

/** Branch is a module, or what stands in one. */
export type Branch<Item> =
  | { kind: 'module'; path: string; label: string; depth: number; inside: number; open: boolean }
  | { kind: 'item'; item: Item; label: string; depth: number }

/** branchesOf lays things out as a tree by the modules of their addresses, those of the root first; closed modules hide what is in them. */
export function branchesOf<Item extends { address: string }>(items: Item[], closed: ReadonlySet<string>): Branch<Item>[] {
  const rows: Branch<Item>[] = []
  walk(
    items.map((item) => ({ item, ...modulesOf(item.address) })),
    '',
    0,
  )
  return rows

  function walk(all: { item: Item; modules: string[]; rest: string }[], above: string, depth: number): void {
    const below = new Map<string, typeof all>()
    for (const one of all) {
      const [module] = one.modules.slice(depth)
      if (module === undefined) rows.push({ kind: 'item', item: one.item, label: one.rest, depth })
      else if (below.has(module)) below.get(module)!.push(one)
      else below.set(module, [one])
    }
    for (const [label, inside] of [...below].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const path = above === '' ? label : `${above}.${label}`
      const open = !closed.has(path)
      rows.push({ kind: 'module', path, label, depth, inside: inside.length, open })
      if (open) walk(inside, path, depth + 1)
    }
  }
}
