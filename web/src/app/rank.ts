/** Found is something with an address. */
export interface Found {
  label: string
  kind: string
  href: string
  search?: Record<string, string>
}

/** score is how well a label fits the words, smaller is better; undefined where a word is not in it. */
export function score(label: string, words: string[]): number | undefined {
  let sum = 0
  for (const word of words) {
    const at = label.indexOf(word)
    if (at < 0) return undefined
    const begins = at === 0 || /[^a-z0-9]/.test(label[at - 1]!)
    sum += (begins ? 0 : 100) + at
  }
  return sum + label.length / 1000
}

/** rank is what has all words of a text, the best first; everything, as it is, for no words. */
export function rank(all: Found[], text: string): Found[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return all
  return all
    .map((item) => ({ item, fit: score(item.label.toLowerCase(), words) }))
    .filter((scored): scored is { item: Found; fit: number } => scored.fit !== undefined)
    .sort((a, b) => a.fit - b.fit)
    .map(({ item }) => item)
}
