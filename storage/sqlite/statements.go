package sqlite

// versionColumns are read by versionRow. A left join may leave all of them null.
const versionColumns = `ifnull(v.number, 0), ifnull(v.serial, 0), ifnull(v.lineage, ''),
	ifnull(v.terraform_version, ''), ifnull(v.encrypted, 0), ifnull(v.size, 0), v.digest,
	ifnull(v.created_at, 0), ifnull(v.key, ''), ifnull(v.address, ''), ifnull(v.request, ''),
	ifnull(v.who, ''), ifnull(v.operation, ''), ifnull(v.subject, ''), ifnull(v.resources, 0),
	ifnull(v.warnings, ''), ifnull(v.origin_version, 0), ifnull(v.origin_candidate, ''),
	ifnull(v.reason, ''), ifnull(v.purged, 0)`

// lockColumns are read by lockRow.
const lockColumns = `s.lock_since, ifnull(s.lock_key, ''), ifnull(s.lock_id, ''),
	ifnull(s.lock_operation, ''), ifnull(s.lock_info, ''), ifnull(s.lock_who, ''),
	ifnull(s.lock_version, ''), ifnull(s.lock_created, ''), ifnull(s.lock_path, ''), s.lock_raw,
	ifnull(s.lock_seen, s.lock_since), ifnull(s.lock_run, ''), ifnull(s.lock_epoch, 0)`

// fenceColumns are a state.Fence.
const fenceColumns = `s.fence_run, s.fence_epoch, s.fence_open`

// headColumns are read by headRow.
const headColumns = `s.id, s.newest IS NOT NULL, s.deleted_at, s.undeleted, s.released_id, s.purges,
	` + fenceColumns + `, s.expected, ` + lockColumns + `, ` + versionColumns

const fromHeads = ` FROM states s LEFT JOIN versions v ON v.id = s.newest `

const sqlHead = `SELECT ` + headColumns + fromHeads + `WHERE s.org = ? AND s.name = ?`

// bodyColumns are a version's body and the one that it is a delta of, if any.
const bodyColumns = `b.encoding, b.bytes, a.encoding, a.bytes, `

const fromBodies = ` LEFT JOIN bodies b ON b.id = v.id LEFT JOIN bodies a ON a.id = b.base `

// Left joins: a version without its row or its bytes is damage, never an absent state.
const sqlCurrent = `SELECT ` + bodyColumns + versionColumns + `
	FROM states s LEFT JOIN versions v ON v.id = s.newest` + fromBodies + `
	WHERE s.org = ? AND s.name = ? AND s.newest IS NOT NULL AND s.deleted_at IS NULL`

const sqlVersion = `SELECT ` + bodyColumns + versionColumns + `
	FROM states s JOIN versions v ON v.state = s.id` + fromBodies + `
	WHERE s.org = ? AND s.name = ? AND v.number = ?`

const (
	sqlAddState rowWrite = `INSERT INTO states (org, name) VALUES (?, ?)`

	sqlAddVersion rowWrite = `INSERT INTO versions (state, number, serial, lineage, terraform_version, encrypted,
		size, digest, created_at, key, address, request, who, operation, subject, resources, warnings,
		origin_version, origin_candidate, reason, purged)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

	sqlAddBody rowWrite = `INSERT INTO bodies (id, encoding, bytes, base) VALUES (?, ?, ?, nullif(?, 0))`

	// A row's number may be another one's since, so that it takes more to know a base again.
	sqlIsBase = `SELECT EXISTS (SELECT 1 FROM versions v JOIN bodies b ON b.id = v.id
		WHERE v.id = ? AND v.state = ? AND v.number = ? AND v.digest = ? AND b.base IS NULL)`

	sqlSetNewest rowWrite = `UPDATE states SET newest = ?, deleted_at = NULL, undeleted = 0 WHERE id = ?`

	sqlSetDeleted rowWrite = `UPDATE states SET deleted_at = ?, undeleted = ? WHERE id = ?` // null brings it back

	sqlSetLock rowWrite = `UPDATE states SET lock_since = ?, lock_key = ?, lock_id = ?, lock_operation = ?,
		lock_info = ?, lock_who = ?, lock_version = ?, lock_created = ?, lock_path = ?, lock_raw = ?,
		lock_seen = ?, lock_run = nullif(?, ''), lock_epoch = nullif(?, 0) WHERE id = ?`

	sqlSetSeen rowWrite = `UPDATE states SET lock_seen = ? WHERE id = ?`

	sqlSetExpected rowWrite = `UPDATE states SET expected = ? WHERE id = ?` // null ends it

	sqlSetFence rowWrite = `UPDATE states SET fence_run = ?, fence_epoch = ?, fence_open = ? WHERE id = ?`

	sqlRetireLock = `INSERT OR IGNORE INTO lock_ids (state, id) SELECT id, lock_id FROM states WHERE id = ? AND lock_id IS NOT NULL`
	sqlLockUsed   = `SELECT EXISTS (SELECT 1 FROM lock_ids WHERE state = ? AND id = ?)`

	sqlIsPurged = `SELECT EXISTS (SELECT 1 FROM purged WHERE state = ? AND digest = ?)`

	sqlCandidateStatus = `SELECT status FROM candidates WHERE state = ? AND id = ?`
	sqlOpenCandidates  = `SELECT count(*) FROM candidates WHERE state = ? AND status = 'open'`
	sqlAddCandidate    = `INSERT INTO candidates (state, id, source, status, number, serial, lineage, terraform_version,
		encrypted, size, digest, created_at, key, address, request, who, operation, subject, resources,
		warnings, origin_version, origin_candidate, reason, purged, encoding, bytes, content)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlSettleTwins = `UPDATE candidates SET status = ?, decided_at = ?, bytes = NULL
		WHERE state = ? AND status = 'open' AND content = ?`
	sqlSettle = `UPDATE candidates SET status = ?, decided_at = ?, bytes = NULL WHERE state = ? AND id = ?`

	sqlAddEvent = `INSERT INTO events (at, org, action, state, version, lock_id, refused, reason, note, key,
		key_name, subject, role, address, request, listed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`
	sqlListEvents   = `UPDATE events SET listed = 1 WHERE sequence > ? AND listed = 0`
	sqlLastEvent    = `SELECT at FROM events WHERE sequence = (SELECT max(sequence) FROM events)`
	sqlLastSequence = `SELECT ifnull(max(sequence), 0) FROM events`
	sqlEventAt      = `SELECT at FROM events WHERE sequence >= ? ORDER BY sequence LIMIT 1`

	sqlRelease rowWrite = `UPDATE states SET released_id = lock_id, lock_since = NULL, lock_key = NULL,
		lock_id = NULL, lock_operation = NULL, lock_info = NULL, lock_who = NULL, lock_version = NULL,
		lock_created = NULL, lock_path = NULL, lock_raw = NULL,
		lock_seen = NULL, lock_run = NULL, lock_epoch = NULL
		WHERE id = ? AND lock_id IS NOT NULL`

	// Grows with what other connections commit: nobody but an operator with tools of their
	// own, who is told not to. It takes 4 µs for a whole batch to be sure of it.
	sqlDataVersion = `PRAGMA data_version`

	sqlReadProbe = `SELECT ifnull(max(id), 0) FROM versions`

	// The filler needs pages of its own: an update in place would go through in a database
	// that can't grow any more.
	sqlAddProbe    = `INSERT INTO probe (filler) VALUES (zeroblob(16384))`
	sqlDeleteProbe = `DELETE FROM probe WHERE id = ?`
)
