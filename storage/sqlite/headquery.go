package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/holdfast/holdfast/storage/stateengine"
)

// headQuery is sqlHead with room for its result. One goroutine uses it at a time.
type headQuery struct {
	stmt *sql.Stmt
	row  stateengine.HeadScan
}

func (q *headQuery) load(in stateengine.Envelope) (stateengine.HeadRow, error) {
	ref := in.Ref()
	row := q.stmt.QueryRowContext(context.Background(), ref.Org.String(), string(ref.Name))
	if err := row.Scan(q.row.Fields()...); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return stateengine.HeadRow{}, nil
		}
		return stateengine.HeadRow{}, err
	}
	return q.row.Value(in)
}
