package sqlite

import "github.com/holdfast/holdfast/storage/stateengine"

// So many values of a row.
const (
	places13 = `?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?`
	places15 = places13 + `, ?, ?`
	places21 = places15 + `, ?, ?, ?, ?, ?, ?`
	places27 = places21 + `, ?, ?, ?, ?, ?, ?`
)

const fromHeads = ` FROM states s LEFT JOIN versions v ON v.id = s.newest `

const sqlHead = `SELECT ` + stateengine.HeadColumns + fromHeads + `WHERE s.org = ? AND s.name = ?`

// bodyColumns are a version's body and the one that it is a delta of, if any.
const bodyColumns = `b.encoding, b.bytes, (SELECT w.number FROM versions w WHERE w.id = b.base), a.encoding, a.bytes, `

const fromBodies = ` LEFT JOIN bodies b ON b.id = v.id LEFT JOIN bodies a ON a.id = b.base `

// Left joins: a version without its row or its bytes is damage, never an absent state.
const sqlCurrent = `SELECT ` + bodyColumns + stateengine.VersionColumns + `
	FROM states s LEFT JOIN versions v ON v.id = s.newest` + fromBodies + `
	WHERE s.org = ? AND s.name = ? AND s.newest IS NOT NULL AND s.deleted_at IS NULL`

const sqlVersion = `SELECT ` + bodyColumns + stateengine.VersionColumns + `
	FROM states s JOIN versions v ON v.state = s.id` + fromBodies + `
	WHERE s.org = ? AND s.name = ? AND v.number = ?`

const (
	sqlAddState rowWrite = `INSERT INTO states (org, name) VALUES (?, ?)`

	sqlAddVersion rowWrite = `INSERT INTO versions (state, ` + stateengine.VersionNames + `) VALUES (` + places21 + `)`

	sqlAddBody rowWrite = `INSERT INTO bodies (id, encoding, bytes, base) VALUES (?, ?, ?, nullif(?, 0))`

	// A row's number may be another one's since, so that it takes more to know a base again.
	sqlIsBase = `SELECT EXISTS (SELECT 1 FROM versions v JOIN bodies b ON b.id = v.id
		WHERE v.id = ? AND v.state = ? AND v.number = ? AND v.digest = ? AND b.base IS NULL)`

	sqlSetNewest rowWrite = `UPDATE states SET newest = ?, deleted_at = NULL, undeleted = 0 WHERE id = ?`

	sqlSetDeleted rowWrite = `UPDATE states SET deleted_at = ?, undeleted = ? WHERE id = ?` // null brings it back

	sqlSetLock rowWrite = `UPDATE states SET (` + stateengine.LockNames + `) = (` + places13 + `) WHERE id = ?`

	sqlSetSeen rowWrite = `UPDATE states SET lock_seen = ? WHERE id = ?`

	sqlSetExpected rowWrite = `UPDATE states SET expected = ? WHERE id = ?` // null ends it

	sqlSetFence rowWrite = `UPDATE states SET fence_run = ?, fence_epoch = ?, fence_open = ? WHERE id = ?`

	sqlRetireLock = `INSERT OR IGNORE INTO lock_ids (state, id) SELECT id, lock_id FROM states WHERE id = ? AND lock_id IS NOT NULL`
	sqlLockUsed   = `SELECT EXISTS (SELECT 1 FROM lock_ids WHERE state = ? AND id = ?)`

	sqlIsPurged = `SELECT EXISTS (SELECT 1 FROM purged WHERE state = ? AND digest = ?)`

	sqlCandidateStatus = `SELECT status FROM candidates WHERE state = ? AND id = ?`
	sqlOpenCandidates  = `SELECT count(*) FROM candidates WHERE state = ? AND status = 'open'`
	sqlAddCandidate    = `INSERT INTO candidates (state, id, source, status, ` + stateengine.VersionNames +
		`, content, encoding, bytes)
		VALUES (` + places27 + `)`
	sqlSettleTwins = `UPDATE candidates SET status = ?, decided_at = ?, bytes = NULL
		WHERE state = ? AND status = 'open' AND content = ?`
	sqlSettle = `UPDATE candidates SET status = ?, decided_at = ?, bytes = NULL WHERE state = ? AND id = ?`

	sqlAddEvent = `INSERT INTO events (` + stateengine.EventNames + `, sequence, place, hash, listed)
		VALUES (` + places15 + `, ?, ?, ?, 0)`
	sqlListEvents   = `UPDATE events SET listed = 1 WHERE sequence > ? AND listed = 0`
	sqlLastEvent    = `SELECT sequence, at FROM events WHERE sequence = (SELECT max(sequence) FROM events)`
	sqlLastSequence = `SELECT coalesce(max(sequence), 0) FROM events`
	sqlEventAt      = `SELECT at FROM events WHERE sequence >= ? ORDER BY sequence LIMIT 1`

	sqlRelease rowWrite = `UPDATE states SET released_id = lock_id, lock_since = NULL, lock_key = NULL,
		lock_id = NULL, lock_operation = NULL, lock_info = NULL, lock_who = NULL, lock_version = NULL,
		lock_created = NULL, lock_path = NULL, lock_raw = NULL,
		lock_seen = NULL, lock_run = NULL, lock_epoch = NULL
		WHERE id = ? AND lock_id IS NOT NULL`

	// Grows with what other connections commit: nobody but an operator with tools of their
	// own, who is told not to. It takes 4 µs for a whole batch to be sure of it.
	sqlDataVersion = `PRAGMA data_version`

	sqlReadProbe = `SELECT coalesce(max(id), 0) FROM versions`

	// The filler needs pages of its own: an update in place would go through in a database
	// that can't grow any more.
	sqlAddProbe    = `INSERT INTO probe (filler) VALUES (zeroblob(16384))`
	sqlDeleteProbe = `DELETE FROM probe WHERE id = ?`
)
