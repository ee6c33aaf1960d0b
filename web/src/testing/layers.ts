import type { Layer, Run, Snapshot } from '@/api/types'

/** layer is one that is as planned, but for what is given. */
export function layer(name: string, more: Partial<Layer> = {}): Layer {
  return {
    name,
    settings: { repository: 'infra', branch: 'main', path: name, remediation: 'dry', drift: {} },
    state: 'Idle',
    says: 'nothing is to be done',
    conditions: [],
    run: null,
    drifted: 0,
    failures: 0,
    retry_at: null,
    checked_at: '2026-01-02T03:04:05Z',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    updated_by: { key_id: 'k' },
    ...more,
  }
}

/** run is a run of a configuration. */
export function run(id: string, snapshot: string, more: Partial<Run> = {}): Run {
  return { id, workspace: 'prod/app', kind: 'plan', status: 'succeeded', phase: '', trigger: { key_id: 'k' }, attempt: 1, snapshot, created_at: '2026-01-01T00:00:00Z', ...more }
}

/** snapshot is a configuration with a message. */
export function snapshot(id: string, message: string): Snapshot {
  return { number: 1, id, files: 1, bytes: 1, message, created_at: '2026-01-01T00:00:00Z', created_by: { key_id: 'k' } }
}
