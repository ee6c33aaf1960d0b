import type { LayerSettings } from '@/api/types'

export const means: Record<LayerSettings['remediation'], string> = {
  dry: 'it is planned, and nothing else',
  propose: 'a run is made that waits for a person',
  auto: 'it is applied, where gates let it through',
}

/** span says seconds in the largest unit that they are whole numbers of. */
function span(seconds: number): string {
  if (seconds % 86_400 === 0) return `${String(seconds / 86_400)} d`
  if (seconds % 3600 === 0) return `${String(seconds / 3600)} h`
  return seconds % 60 === 0 ? `${String(seconds / 60)} min` : `${String(seconds)} s`
}

/** checksOf says how often a layer is checked for drift. */
export function checksOf({ off, cron, every, time_zone: zone, refresh_only: refreshOnly }: LayerSettings['drift']): string {
  const how = refreshOnly ? ', refresh only' : ''
  if (off) return `only when somebody asks${how}`
  if (cron) return `${cron} (cron${zone ? `, ${zone}` : ''})${how}`
  return `every ${span(every ?? 1200)}, give or take a tenth${how}`
}

/** windowOf says when runs may be begun, or may not. */
export function windowOf({ kind, schedule, time_zone: zone, duration, actions }: NonNullable<LayerSettings['windows']>[number]): string {
  const what = actions && actions.length > 0 ? actions.join(' and ') : 'plan and apply'
  return `${kind} ${what}: ${schedule} (cron${zone ? `, ${zone}` : ''}), for ${span(duration)}`
}
