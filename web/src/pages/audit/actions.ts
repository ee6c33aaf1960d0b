/** Actions of the audit log by what they are about, with what each means to people. */
export const actionGroups: [group: string, actions: [action: string, words: string][]][] = [
  ['States', [
    ['state.write', 'wrote a version'],
    ['state.import', 'imported a version'],
    ['state.rollback', 'rolled back'],
    ['state.delete', 'deleted the state'],
    ['state.undelete', 'brought the state back'],
    ['state.rewind', 'the database lost a change'],
    ['state.expire', 'a deleted state went for good'],
    ['version.purge', 'destroyed a version'],
    ['versions.prune', 'old versions were removed'],
    ['state.read', 'read a state’s bytes'],
    ['sensitive.read', 'looked at sensitive values'],
  ]],
  ['Locks', [
    ['lock.take', 'took the lock'],
    ['lock.release', 'released the lock'],
    ['lock.force', 'forced the lock open'],
    ['lock.takeover', 'took the lock over'],
  ]],
  ['Kept back', [
    ['candidate.hold', 'a guard kept a write back'],
    ['candidate.fence', 'a lost run’s write was kept back'],
    ['candidate.push', 'brought a candidate'],
    ['candidate.promote', 'promoted a candidate'],
    ['candidate.discard', 'discarded a candidate'],
    ['expect.set', 'announced a change'],
    ['expect.use', 'did what was announced'],
    ['expect.end', 'took an announcement back'],
  ]],
  ['Runs', [
    ['run.create', 'asked for a run'],
    ['run.approve', 'approved a plan'],
    ['run.break_glass', 'approved a plan alone, in an emergency'],
    ['run.decide', 'heard a decision service about a plan'],
    ['run.deny', 'denied a plan'],
    ['run.discard', 'discarded a plan'],
    ['run.cancel', 'cancelled a run'],
    ['run.resolve', 'resolved a lost run'],
    ['run.wait', 'a plan waits for people'],
    ['run.fail', 'a run has failed'],
    ['run.orphan', 'a run’s executor was lost'],
    ['run.stale', 'a plan went out of date'],
  ]],
  ['Workspaces', [
    ['workspace.create', 'made a workspace'],
    ['workspace.settings', 'changed its settings'],
    ['workspace.variables', 'changed variables'],
    ['workspace.configure', 'brought a configuration'],
    ['workspace.delete', 'deleted a workspace'],
  ]],
  ['Layers and drift', [
    ['layer.create', 'made a layer'],
    ['layer.change', 'changed a layer'],
    ['layer.remove', 'removed a layer'],
    ['layer.sync', 'asked for a plan of a layer'],
    ['drift.find', 'something was changed outside'],
    ['drift.heal', 'drift is gone'],
    ['drift.expect', 'said which drift is expected'],
  ]],
  ['Policies', [
    ['policy.push', 'pushed policies'],
    ['policy.remove', 'removed policies'],
  ]],
  ['Pools and agents', [
    ['pool.create', 'made a pool'],
    ['pool.rotate', 'gave a pool another token'],
    ['pool.remove', 'removed a pool'],
    ['pool.change', 'changed what a pool serves'],
    ['pool.grant', 'lent a pool'],
    ['pool.revoke', 'lends a pool no more'],
    ['pool.accept', 'accepted a pool'],
    ['agent.register', 'an agent registered'],
  ]],
  ['Organization', [
    ['organization.change', 'changed how states are kept'],
  ]],
  ['Keys and sessions', [
    ['session.begin', 'signed in'],
    ['login.fail', 'credentials were refused'],
    ['session.end', 'signed out'],
    ['session.end_all', 'signed out everywhere'],
    ['key.make', 'made a key'],
    ['key.rotate', 'rotated a key'],
    ['key.revoke', 'revoked a key'],
  ]],
  ['Other', [
    ['access.refused', 'was refused'],
    ['data.upload', 'uploaded records'],
    ['quota.near', 'most of the quota is used'],
    ['audit.prune', 'old entries of this log were removed'],
    ['upload.expire', 'old records of uploads were removed'],
    ['notice.drop', 'a notice was not delivered'],
  ]],
]

const words = new Map(actionGroups.flatMap(([, actions]) => actions))

/** wordsOf says what an action means; of one that is not known here, its own name. */
export function wordsOf(action: string): string {
  return words.get(action) ?? action
}

const runID = /\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b/

/** Piece is a part of a note: text, or the ID of a run in it. */
export type Piece = { text: string } | { run: string }

/** piecesOf splits a note so that the runs that it names can be links. */
export function piecesOf(note: string): Piece[] {
  const pieces: Piece[] = []
  let rest = note
  for (let found = runID.exec(rest); found; found = runID.exec(rest)) {
    if (found.index > 0) pieces.push({ text: rest.slice(0, found.index) })
    pieces.push({ run: found[0] })
    rest = rest.slice(found.index + found[0].length)
  }
  if (rest !== '') pieces.push({ text: rest })
  return pieces
}
