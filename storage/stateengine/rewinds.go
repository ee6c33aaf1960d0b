package stateengine

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// Rewind says what a state was at a time, where that is not what it is.
type Rewind struct {
	Ref             state.Ref
	LockID          string // of the lock that is held; empty for none
	Version, Newest uint64 // the first is 0 where no version of then is kept
	Made            bool   // since, which its first version says as long as it is listed
	Deleted         bool   // since
}

// sqlRewinds is asked with the tables of heads and of versions, and with what joins a head with its newest version. Of
// a state that was made since and is deleted nothing is to be done, nor of one that is being removed for good, which is
// under no organization. Where the version of then was purged, an older one is not what the state was.
const sqlRewinds = `SELECT org, name, held, CASE WHEN purged <> 0 THEN 0 ELSE version END, newest, made, deleted FROM (
	SELECT s.org, s.name, coalesce(s.lock_id, '') AS held, n.number AS newest, s.deleted_at IS NOT NULL AS deleted,
		coalesce((SELECT max(v.number) FROM %[2]s v WHERE v.state = s.id AND v.created_at <= ?), 0) AS version,
		coalesce((SELECT v.purged FROM %[2]s v WHERE v.state = s.id AND v.created_at <= ? ORDER BY v.number DESC LIMIT 1), 0)
		AS purged,
		EXISTS (SELECT 1 FROM %[2]s v WHERE v.state = s.id AND v.number = 1 AND v.created_at > ?) AS made
	FROM %[1]s s JOIN %[2]s n ON %[3]s WHERE s.org <> '' AND (s.deleted_at IS NULL OR s.deleted_at > ?)) kept
	WHERE (version <> newest OR deleted) AND NOT (version = 0 AND made AND deleted) ORDER BY org, name`

// Rewinds lists the states that were something else at a time, and those of which nobody can say what they were. An
// engine says what its tables of heads and versions are called, and by what a head s is joined with its newest
// version n.
func Rewinds(ctx context.Context, db *sql.DB, heads, versions, newest string, at time.Time) (all []Rewind, err error) {
	micros := at.UnixMicro()
	rows, err := db.QueryContext(ctx, fmt.Sprintf(sqlRewinds, heads, versions, newest), micros, micros, micros, micros)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		one, err := scanRewind(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

func scanRewind(rows *sql.Rows) (r Rewind, err error) {
	var org, name string
	if err := rows.Scan(&org, &name, &r.LockID, &r.Version, &r.Newest, &r.Made, &r.Deleted); err != nil {
		return r, err
	}
	if r.Ref.Org, err = uuid.Parse(org); err != nil {
		return r, err
	}
	r.Ref.Name, err = state.ParseName(name)
	return r, err
}
