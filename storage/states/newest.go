package states

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/mysqldb"
)

const selectNewest = `SELECT 0, s.org, s.name, v.number, v.digest, v.created_at FROM state_heads s`

const newestFrom = ` JOIN state_versions v ON v.state = s.id AND v.number = s.newest
	WHERE s.deleted_at IS NULL AND v.purged = 0 AND (`

const (
	ofOne        = `s.org = ? AND s.name = ?`
	newestFields = 5
)

// newest asks for so many states.
func (d dialect) newest(states int) string {
	return d.unlessDemoted(newestFields, selectNewest+d.index("names")+newestFrom+strings.TrimSuffix(strings.Repeat(ofOne+" OR ", states), " OR ")+")")
}

// Newest implements state.Newest. It is one statement for all, and so sees one moment.
func (s *Store) Newest(ctx context.Context, refs []state.Ref) (tips []state.Tip, err error) {
	if len(refs) == 0 {
		return nil, nil
	}
	args := make([]any, 0, 2*len(refs))
	for _, ref := range refs {
		args = append(args, ref.Org.String(), string(ref.Name))
	}
	query := s.texts.newestOfOne
	if len(refs) > 1 {
		query = s.sql.newest(len(refs))
	}
	err = s.ask(ctx, uuid.Nil, func(ctx context.Context) error {
		found, err := s.newest(ctx, query, args)
		if err != nil {
			return err
		}
		tips = make([]state.Tip, len(refs))
		for i, ref := range refs {
			if s.rewinds.of(ref) == nil { // Current has an error for the others
				tips[i] = found[ref]
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return tips, nil
}

func (s *Store) newest(ctx context.Context, query string, args []any) (map[state.Ref]state.Tip, error) {
	rows, err := s.readers.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := make(map[state.Ref]state.Tip, len(args)/2)
	for rows.Next() {
		var org, name string
		var digest []byte
		var mark, at int64
		var tip state.Tip
		if err := rows.Scan(&mark, &org, &name, &tip.Number, &digest, &at); err != nil {
			return nil, err
		}
		if mark == isDemoted {
			return nil, mysqldb.ErrDemoted
		}
		of, err := uuid.Parse(org)
		if err != nil {
			return nil, err
		}
		in := s.bodies.Seals.Of(ctx, state.Ref{Org: of, Name: state.Name(name)})
		if tip.Digest, err = in.Digest(digest); err != nil {
			continue // others are asked for too: Current has the error for this one
		}
		tip.CreatedAt = time.UnixMicro(at).UTC()
		found[state.Ref{Org: of, Name: state.Name(name)}] = tip
	}
	return found, rows.Err()
}
