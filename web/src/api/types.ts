// The shapes of answers that the page uses. docs/api.md says what each member means.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

export interface Failure {
  status: 'error'
  code: string
  message: string
  request_id: string
  details?: { pointer: string; rule: string }[]
  lock?: Json
}

export interface Identity {
  org_id: string
  org_name: string
  key_id: string
  key_name: string
  subject: string
  role: string
  rights: string[] | null
  states: string[] | null
  expires: string | null
  address: string
}

export interface Origin {
  version?: number
  candidate?: string
  reason?: string
}

export interface Version {
  version: number
  serial: number
  lineage: string
  size: number
  digest: string
  terraform_version: string
  encrypted: boolean
  resources: number | null
  created_at: string
  key_id: string
  key_name?: string
  run?: string
  subject?: string
  who?: string
  operation?: string
  address: string
  request_id: string
  warnings?: string[]
  origin?: Origin
  purged?: boolean
}

export interface Lock {
  id: string
  who: string
  operation: string
  since: string
  last_seen: string
  key_id: string
  run?: string
  info: Json
}

export interface State {
  name: string
  version: Version | null
  deleted_at?: string
  lock: Lock | null
  open_candidates: number
}

export interface States {
  next: string | null
  states: State[]
}

export interface Versions {
  next: number | null
  versions: Version[]
}

export interface Candidate extends Version {
  id: string
  status: 'open' | 'promoted' | 'discarded'
  source: string
  decided_at?: string
  base_version: number
}

export interface Candidates {
  candidates: Candidate[]
  next: string | null
}

export interface Output {
  value: Json
  type: Json
  sensitive: boolean
  deprecated?: string
}

export interface Outputs {
  outputs: Record<string, Output>
}

export interface Change {
  before?: Json
  after?: Json
}

export interface AttributeChange extends Change {
  path: (string | number)[]
  sensitive?: boolean
  inside?: AttributeChange[]
}

export interface Instance {
  address: string
  module?: string
  mode: string
  type: string
  name: string
  index_key?: string | number
  deposed?: string
}

export interface ResourceChange extends Instance {
  action: 'added' | 'removed' | 'changed' | 'moved'
  previous?: Instance
  fields?: (Change & { field: string })[]
  attributes?: AttributeChange[]
}

export interface OutputChange {
  action: 'added' | 'removed' | 'changed'
  name: string
  before?: Output
  after?: Output
  changes?: AttributeChange[]
}

export interface Diff {
  masked: boolean
  terraform_version?: Change
  lineage?: Change
  serial?: Change
  providers?: { added?: string[]; removed?: string[] }
  outputs: OutputChange[]
  resources: ResourceChange[]
  summary: { added: number; changed: number; removed: number; moved: number; outputs: number }
}

export interface Actor {
  key_id: string
  key_name?: string
  subject?: string
}

export interface RunCounts {
  add: number
  change: number
  destroy: number
  replace: number
  import: number
  forget: number
  move: number
  drift: number
  outputs: number
  any: boolean
}

export interface Pin {
  digest: string
  changes: string
  state: { version: number; lineage?: string; serial: number; digest?: string }
  config: { snapshot: string; directory?: string }
  tool: { name: string; version: string; digest: string; system: string }
  plan: string
  unchecked?: string[]
}

export interface Diagnostic {
  severity: 'error' | 'warning'
  summary: string
  detail?: string
  address?: string
  file?: string
  line?: number
}

export type RunStatusName =
  | 'pending'
  | 'preparing'
  | 'planning'
  | 'checking'
  | 'awaiting_approval'
  | 'confirmed'
  | 'applying'
  | 'retrying'
  | 'orphaned'
  | 'succeeded'
  | 'failed'
  | 'discarded'
  | 'stale'
  | 'cancelled'

export interface Run {
  id: string
  workspace: string
  kind: string
  status: RunStatusName
  phase: string
  reason?: string
  message?: string
  trigger: Actor
  retry_of?: string
  follows?: string
  followed_by?: string
  attempt: number
  snapshot: string
  targets?: string[]
  replace?: string[]
  no_refresh?: boolean
  auto_approve?: boolean
  pin?: Pin
  counts?: RunCounts
  stale?: { since: string; because: string; version?: number; what?: string; by?: Actor }
  approvals?: { digest: string; approved: boolean; reason?: string; by: Actor; at: string; from?: string }[]
  approvals_needed?: number
  cancel?: { level: 'soft' | 'hard'; by: Actor; at: string; until?: string }
  executor?: {
    agent: string
    name?: string
    epoch: number
    lease_until?: string
    seen_at?: string
    sandbox?: { level: string; network: string; why?: string[] }
  }
  exit_code?: number
  version_before?: number
  version_after?: number
  in_flight?: { address: string; action: string; since: string }[]
  diagnostics?: Diagnostic[]
  created_at: string
  started_at?: string
  planned_at?: string
  decided_at?: string
  applied_at?: string
  finished_at?: string
  phases?: { phase: string; attempt: number; seconds: number; outcome: string; resources?: number }[]
}

export interface Runs {
  next: string | null
  runs: Run[]
}

export interface RunEvent {
  sequence: number
  at: string
  type: string
  from?: string
  to?: string
  epoch: number
  by: Actor
  request_id?: string
  note?: string
}

export interface RunEvents {
  next: number | null
  events: RunEvent[]
}

export interface RunChange {
  address: string
  previous_address?: string
  deposed?: string
  mode: string
  type: string
  name: string
  provider: string
  actions: string[]
  reason?: string
  replace_because?: string[]
  import?: string
  before: Json
  after: Json
  after_unknown?: Json
}

export interface RunChanges {
  counts: RunCounts
  changes: RunChange[]
  drift: RunChange[]
  outputs: { name: string; actions: string[]; sensitive: boolean; before: Json; after: Json }[]
  cut?: boolean
}

export interface Workspace {
  name: string
  settings: { tool: string; version?: string; approvals: number; allow_author: boolean; protected: boolean }
  revision: number
  snapshot?: Snapshot
  created_at: string
  updated_at: string
  updated_by: Actor
  paused_reason?: string
}

export interface Workspaces {
  next: string | null
  workspaces: Workspace[]
}

export interface Snapshot {
  number: number
  id: string
  files: number
  bytes: number
  message?: string
  created_at: string
  created_by: Actor
}

export interface LogBytes {
  attempt: number
  offset: number
  bytes: string
}

export interface RunStatus {
  status: RunStatusName
  phase: string
  attempt: number
  reason?: string
}
