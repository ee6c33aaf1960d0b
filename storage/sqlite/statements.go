package sqlite

// versionColumns are read by versionRow. A left join may leave all of them null.
const versionColumns = `ifnull(v.number, 0), ifnull(v.serial, 0), ifnull(v.lineage, ''),
	ifnull(v.terraform_version, ''), ifnull(v.encrypted, 0), ifnull(v.size, 0), v.digest,
	ifnull(v.created_at, 0), ifnull(v.key, ''), ifnull(v.address, ''), ifnull(v.request, ''),
	ifnull(v.who, ''), ifnull(v.operation, '')`

// lockColumns are read by lockRow.
const lockColumns = `s.lock_since, ifnull(s.lock_key, ''), ifnull(s.lock_id, ''),
	ifnull(s.lock_operation, ''), ifnull(s.lock_info, ''), ifnull(s.lock_who, ''),
	ifnull(s.lock_version, ''), ifnull(s.lock_created, ''), ifnull(s.lock_path, ''), s.lock_raw`

const sqlHead = `SELECT s.id, s.newest IS NOT NULL, s.deleted_at IS NOT NULL, s.released_id,
	` + lockColumns + `, ` + versionColumns + `
	FROM states s LEFT JOIN versions v ON v.id = s.newest
	WHERE s.org = ? AND s.name = ?`

// Left joins: a version without its row or its bytes is damage, never an absent state.
const sqlCurrent = `SELECT ifnull(b.encoding, ''), b.bytes, ` + versionColumns + `
	FROM states s LEFT JOIN versions v ON v.id = s.newest LEFT JOIN bodies b ON b.id = v.id
	WHERE s.org = ? AND s.name = ? AND s.newest IS NOT NULL AND s.deleted_at IS NULL`

const sqlVersion = `SELECT ifnull(b.encoding, ''), b.bytes, ` + versionColumns + `
	FROM states s JOIN versions v ON v.state = s.id LEFT JOIN bodies b ON b.id = v.id
	WHERE s.org = ? AND s.name = ? AND v.number = ?`

const (
	sqlAddState = `INSERT INTO states (org, name) VALUES (?, ?)`

	sqlAddVersion = `INSERT INTO versions (state, number, serial, lineage, terraform_version, encrypted,
		size, digest, created_at, key, address, request, who, operation)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

	sqlAddBody = `INSERT INTO bodies (id, encoding, bytes) VALUES (?, ?, ?)`

	sqlSetNewest = `UPDATE states SET newest = ?, deleted_at = NULL WHERE id = ?`

	sqlSetDeleted = `UPDATE states SET deleted_at = ? WHERE id = ?`

	sqlSetLock = `UPDATE states SET lock_since = ?, lock_key = ?, lock_id = ?, lock_operation = ?,
		lock_info = ?, lock_who = ?, lock_version = ?, lock_created = ?, lock_path = ?, lock_raw = ?
		WHERE id = ?`

	sqlRelease = `UPDATE states SET released_id = lock_id, lock_since = NULL, lock_key = NULL,
		lock_id = NULL, lock_operation = NULL, lock_info = NULL, lock_who = NULL, lock_version = NULL,
		lock_created = NULL, lock_path = NULL, lock_raw = NULL
		WHERE id = ? AND lock_id IS NOT NULL`

	sqlReadProbe = `SELECT ifnull(max(id), 0) FROM versions`

	// The filler needs pages of its own: an update in place would go through in a database
	// that can't grow any more.
	sqlAddProbe    = `INSERT INTO probe (filler) VALUES (zeroblob(16384))`
	sqlDeleteProbe = `DELETE FROM probe WHERE id = ?`
)
