import type { Repository } from '@/api/types'
import type { Tone } from '@/ui/Badge'

const reasons: Record<string, string> = {
  unreachable: 'nobody answers there',
  login_refused: 'the credentials are refused',
  host_key: 'the host shows another key',
  address_refused: 'the address is not allowed',
  not_there: 'there is no such repository or branch',
  too_large: 'it is too large',
  too_slow: 'it takes too long',
  hostile: 'git refuses its objects',
}

/** healthOf is how a repository does, in words. */
export function healthOf({ failures = 0, kind = '', fetched_at: fetched }: Repository['status']): { tone: Tone; words: string } {
  if (failures > 0) return { tone: 'loss', words: `not fetched: ${reasons[kind] ?? kind.replaceAll('_', ' ')}` }
  return fetched ? { tone: 'done', words: 'fetched' } : { tone: 'still', words: 'not fetched yet' }
}
