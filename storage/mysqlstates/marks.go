package mysqlstates

import (
	"context"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const sqlMarks = `SELECT s.org, s.name, s.id, s.revision, ifnull(v.number, 0), ifnull(v.digest, ''), ifnull(v.purged, 0), s.deleted_at IS NOT NULL` +
	newestOf + ` WHERE (s.org, s.name) IN `

// Marks implements state.Marker.
func (s *Store) Marks(ctx context.Context, refs []state.Ref) (marks []state.Mark, err error) {
	if len(refs) == 0 {
		return nil, nil
	}
	var args []any
	for _, ref := range refs {
		args = append(args, ref.Org.String(), string(ref.Name))
	}
	var found map[state.Ref]state.Mark
	err = s.ask(ctx, refs[0].Org, func(ctx context.Context) error {
		found = map[state.Ref]state.Mark{}
		return each(ctx, s.readers, scanMark, func(m marked) bool {
			found[m.ref] = m.mark
			return true
		}, sqlMarks+"("+tuples(len(refs), 2)+")", args...)
	})
	for _, ref := range refs {
		marks = append(marks, found[ref])
	}
	if err != nil {
		return nil, err
	}
	return marks, nil
}

// marked is a mark with its state.
type marked struct {
	ref  state.Ref
	mark state.Mark
}

func scanMark(scan stateengine.Scan) (m marked, err error) {
	var digest []byte
	err = scan(&m.ref.Org, &m.ref.Name, &m.mark.State, &m.mark.Revision, &m.mark.Version, &digest, &m.mark.Purged, &m.mark.Deleted)
	copy(m.mark.Digest[:], digest)
	return m, err
}
