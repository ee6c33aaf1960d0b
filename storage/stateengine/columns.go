package stateengine

import "github.com/holdfast/holdfast/state"

// VersionColumns are read by VersionRow, of a table that is called v. A left join may leave all
// of them null.
const VersionColumns = `coalesce(v.number, 0), coalesce(v.serial, 0), coalesce(v.lineage, ''),
	coalesce(v.terraform_version, ''), coalesce(v.encrypted, 0), coalesce(v.size, 0), v.digest,
	coalesce(v.created_at, 0), coalesce(v.key_id, ''), coalesce(v.address, ''), coalesce(v.request, ''),
	coalesce(v.who, ''), coalesce(v.operation, ''), coalesce(v.subject, ''), coalesce(v.resources, 0),
	coalesce(v.warnings, ''), coalesce(v.origin_version, 0), coalesce(v.origin_candidate, ''),
	coalesce(v.reason, ''), coalesce(v.purged, 0)`

// lockColumns are read by LockRow, of a table that is called s.
const lockColumns = `s.lock_since, coalesce(s.lock_key, ''), coalesce(s.lock_id, ''),
	coalesce(s.lock_operation, ''), coalesce(s.lock_info, ''), coalesce(s.lock_who, ''),
	coalesce(s.lock_version, ''), coalesce(s.lock_created, ''), coalesce(s.lock_path, ''), s.lock_raw,
	coalesce(s.lock_seen, s.lock_since), coalesce(s.lock_run, ''), coalesce(s.lock_epoch, 0)`

// fenceColumns are a state.Fence.
const fenceColumns = `s.fence_run, s.fence_epoch, s.fence_open`

// HeadColumns are read by HeadScan, of states that are called s with their newest versions v.
const HeadColumns = `s.id, s.newest IS NOT NULL, s.deleted_at, s.undeleted, s.released_id, s.purges,
	` + fenceColumns + `, s.expected, ` + lockColumns + `, ` + VersionColumns

// EventColumns are read by ScanEvent.
const EventColumns = `sequence, at, org, action, state, version, lock_id, refused, reason, note, key_id, key_name,
	subject, role, address, request`

// CandidateColumns are read by CandidateRow; what versions have too is spelled as theirs.
const CandidateColumns = `v.id, v.source, v.status, v.decided_at, v.content, ` + VersionColumns

// VersionNames are the columns that VersionValues are for.
const VersionNames = `number, serial, lineage, terraform_version, encrypted, size, digest, created_at, key_id, address, request, who, operation,
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
