package states

import (
	"strings"

	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	fromHeads = ` FROM state_heads s LEFT JOIN state_versions v ON v.state = s.id AND v.number = s.newest `
	ofRef     = ` WHERE s.org = ? AND s.name = ?`

	// With the base of the newest version, which is there for as long as that one is.
	sqlLockedHead = `SELECT coalesce(v.base, coalesce(v.number, 0)), coalesce(a.digest, v.digest), coalesce(v.encoding, ''), ` +
		stateengine.HeadColumns +
		fromHeads + `LEFT JOIN state_versions a ON a.state = s.id AND a.number = v.base` + ofRef

	sqlLockID = `SELECT s.id FROM state_heads s` + ofRef + ` FOR UPDATE`

	// The pieces of a version and those of what it is a delta of, in one statement, which sees one
	// moment. A version without its row is damage, never an absent state.
	ownPieces = `SELECT 0, coalesce(v.encoding, ''), coalesce(v.stored_bytes, 0), coalesce(v.base, 0), b.piece, b.bytes, ` +
		stateengine.VersionColumns
	basePieces = `SELECT 1, a.encoding, a.stored_bytes, coalesce(a.base, 0), b.piece, b.bytes, ` + stateengine.VersionColumns
	joinOwn    = ` LEFT JOIN state_bodies b ON b.state = v.state AND b.number = v.number`
	joinBase   = ` JOIN state_versions a ON a.state = v.state AND a.number = v.base LEFT JOIN state_bodies b ON b.state = a.state AND b.number = a.number`

	newestOf   = ` FROM state_heads s LEFT JOIN state_versions v ON v.state = s.id AND v.number = s.newest`
	isReadable = ` AND s.newest IS NOT NULL AND s.deleted_at IS NULL`
	versionOf  = ` FROM state_heads s JOIN state_versions v ON v.state = s.id`
	isNumber   = ` AND v.number = ?`

	sqlBaseOfNewest = `SELECT s.id, v.number, coalesce(v.base, v.number)` + fromHeads +
		`JOIN state_versions a ON a.state = s.id AND a.number = coalesce(v.base, v.number)` +
		ofRef + ` AND v.encrypted = 0 AND a.size BETWEEN ? AND ? AND a.base IS NULL AND a.encoding <> ''`

	sqlLockUsed = `EXISTS (SELECT 1 FROM state_lock_ids WHERE state = ? AND id = ?)`
	sqlAskLock  = `SELECT ` + sqlLockUsed

	sqlIsBase = `EXISTS (SELECT 1 FROM state_versions WHERE state = ? AND number = ? AND digest = ? AND base IS NULL AND encoding <> '')`

	sqlAddState   = `INSERT INTO state_heads (org, name) VALUES (?, ?)`
	sqlAddVersion = `INSERT INTO state_versions (state, ` + stateengine.VersionNames +
		`, encoding, stored_bytes, base) VALUES `
	sqlAddPiece     = `INSERT INTO state_bodies (state, number, piece, bytes) VALUES (?, ?, ?, ?)`
	newLockID       = `state_lock_ids (state, id) VALUES (?, ?)`
	sqlAddCandidate = `INSERT INTO state_candidates (state, id, source, status, ` + stateengine.VersionNames +
		`, content, is_open, encoding, stored_bytes) VALUES `

	sqlOpenBodies = `SELECT seq, id, content, digest, stored_bytes FROM state_candidates WHERE state = ? AND is_open = 1`
	sqlSettle     = `UPDATE state_candidates SET status = ?, decided_at = ?, is_open = 0, encoding = '', stored_bytes = 0 WHERE seq = ?`
	sqlDropBody   = `DELETE FROM state_bodies WHERE state = ? AND number = ?`

	sqlUsage = `SELECT coalesce((SELECT bytes FROM state_usage WHERE org = ?), 0) + coalesce((SELECT SUM(bytes) FROM state_journal WHERE org = ?), 0)`

	// Who inserts it has it locked, and so has who finds it there, once a column is set.
	addRoom = `INSERT INTO state_rooms (org) VALUES (?)`

	sqlAddOutcome = `INSERT INTO state_outcomes (token) VALUES (?)`
	sqlUndo       = `INSERT INTO state_outcomes (token, undone) VALUES (?, 1)`
	sqlIsUndone   = `SELECT undone FROM state_outcomes WHERE token = ?`
	sqlAddJournal = `INSERT INTO state_journal (bytes, states, locks, is_event, ` + stateengine.EventNames + `) VALUES `
	sqlAddEvents  = `INSERT INTO state_events (` + stateengine.EventColumns + `) VALUES `

	sqlProbe = `UPDATE state_probe SET at = ? WHERE id = 1`
)

// tuple returns so many placeholders in brackets.
func tuple(n int) string { return "(" + strings.TrimSuffix(strings.Repeat("?, ", n), ", ") + ")" }

// tuples returns so many tuples.
func tuples(rows, n int) string {
	return strings.TrimSuffix(strings.Repeat(tuple(n)+", ", rows), ", ")
}
