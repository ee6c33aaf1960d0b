package stateengine

import "github.com/holdfast/holdfast/state"

// VersionColumns are read by VersionRow, of a table that is called v. A left join may leave all
// of them null.
const VersionColumns = `ifnull(v.number, 0), ifnull(v.serial, 0), ifnull(v.lineage, ''),
	ifnull(v.terraform_version, ''), ifnull(v.encrypted, 0), ifnull(v.size, 0), v.digest,
	ifnull(v.created_at, 0), ifnull(v.key, ''), ifnull(v.address, ''), ifnull(v.request, ''),
	ifnull(v.who, ''), ifnull(v.operation, ''), ifnull(v.subject, ''), ifnull(v.resources, 0),
	ifnull(v.warnings, ''), ifnull(v.origin_version, 0), ifnull(v.origin_candidate, ''),
	ifnull(v.reason, ''), ifnull(v.purged, 0)`

// lockColumns are read by LockRow, of a table that is called s.
const lockColumns = `s.lock_since, ifnull(s.lock_key, ''), ifnull(s.lock_id, ''),
	ifnull(s.lock_operation, ''), ifnull(s.lock_info, ''), ifnull(s.lock_who, ''),
	ifnull(s.lock_version, ''), ifnull(s.lock_created, ''), ifnull(s.lock_path, ''), s.lock_raw,
	ifnull(s.lock_seen, s.lock_since), ifnull(s.lock_run, ''), ifnull(s.lock_epoch, 0)`

// fenceColumns are a state.Fence.
const fenceColumns = `s.fence_run, s.fence_epoch, s.fence_open`

// HeadColumns are read by HeadScan, of states that are called s with their newest versions v.
const HeadColumns = `s.id, s.newest IS NOT NULL, s.deleted_at, s.undeleted, s.released_id, s.purges,
	` + fenceColumns + `, s.expected, ` + lockColumns + `, ` + VersionColumns

// EventColumns are read by ScanEvent.
const EventColumns = `sequence, at, org, action, state, version, lock_id, refused, reason, note, ` + "`key`" +
	`, key_name,
	subject, role, address, request`

// CandidateColumns are read by CandidateRow; what versions have too is spelled as theirs.
const CandidateColumns = `v.id, v.source, v.status, v.decided_at, v.content, ` + VersionColumns

// VersionNames are the columns that VersionValues are for.
const VersionNames = `number, serial, lineage, terraform_version, encrypted, size, digest, created_at, ` + "`key`" +
	`, address, request, who, operation,
	subject, resources, warnings, origin_version, origin_candidate, reason, purged`

// VersionValues returns what the columns from number to purged hold of a version whose body is stored as it says.
func VersionValues(v state.Version, body Stored) []any {
	return []any{int64(v.Number), int64(v.Serial), v.Lineage, v.TerraformVersion, v.Encrypted, v.Size, body.Digest,
		v.CreatedAt.UnixMicro(), v.Author.KeyID, v.Author.Address, v.Author.Request, v.Author.Who, v.Author.Operation,
		v.Author.Subject, v.Resources, v.Warnings.String(), int64(v.Origin.Version), v.Origin.Candidate, v.Origin.Reason,
		v.Purged}
}

// LockNames are the columns that LockValues are for.
const LockNames = `lock_since, lock_key, lock_id, lock_operation, lock_info, lock_who, lock_version, lock_created,
	lock_path, lock_raw, lock_seen, lock_run, lock_epoch`

// LockValues returns what the columns of a held lock hold.
func LockValues(l *state.Lock) []any {
	info := &l.Info
	values := []any{l.Since.UnixMicro(), l.KeyID, info.ID, info.Operation, info.Info, info.Who, info.Version, info.Created,
		info.Path, []byte(info.Raw), l.Seen.UnixMicro(), nil, nil}
	if l.Run.ID != "" {
		values[11] = l.Run.ID
	}
	if l.Run.Epoch != 0 {
		values[12] = l.Run.Epoch
	}
	return values
}
