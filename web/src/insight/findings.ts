import type { Insight, InsightFinding } from '@/api/types'

/** The severities, the gravest first. */
export const severities = ['critical', 'high', 'medium', 'low'] as const

/** Sorted is a plan's findings by whether they count against it. */
export interface Sorted {
  /** Of what the plan touches, and not waived. */
  open: InsightFinding[]
  /** Of what the plan leaves as it is. */
  standing: InsightFinding[]
  waived: InsightFinding[]
}

/** sorted takes apart which findings count; each part keeps their order, the gravest first. */
export function sorted({ findings }: Pick<Insight, 'findings'>): Sorted {
  return {
    open: findings.filter(({ waived, standing }) => !waived && !standing),
    standing: findings.filter(({ waived, standing }) => !waived && standing),
    waived: findings.filter(({ waived }) => waived),
  }
}

/** countsBySeverity counts findings, the gravest severity first; those of which there are none are left out. */
export function countsBySeverity(findings: InsightFinding[]): [severity: string, count: number][] {
  const counts = new Map<string, number>(severities.map((severity) => [severity, 0]))
  for (const { severity } of findings) counts.set(severity, (counts.get(severity) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > 0)
}

/** webAddress is an address that a link may lead to; undefined for what is none, or no web page. */
export function webAddress(link: string | undefined): string | undefined {
  if (link === undefined || !URL.canParse(link)) return undefined
  const { protocol, href } = new URL(link)
  return protocol === 'https:' || protocol === 'http:' ? href : undefined
}

/** keyOf tells findings apart: the server lists none twice. */
export function keyOf({ rule, resource, description }: InsightFinding): string {
  return [rule, resource, description].join('\n')
}

/** hasCost says whether anything of a plan could have a price. */
export function hasCost({ estimated, aiEstimated, unpriced }: Insight['costs']): boolean {
  return estimated.length + aiEstimated.length + unpriced.length > 0
}

/** isQuiet says that there is nothing to look out for in a plan. */
export function isQuiet({ findings, broken, facts, unread, approve_because: because }: Insight): boolean {
  return findings.length + broken.length + facts.irreversible.length + because.length === 0 && !unread
}
