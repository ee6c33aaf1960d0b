package resourceindex

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

const (
	// pieceRows is how many resources are looked at in one turn, so that others, and a purge,
	// come in between: nobody reads beside another.
	pieceRows = 25
	// lookAt is how many resources one call looks at for a page. A page that needs more is
	// short, and says where to go on.
	lookAt = 20_000
	// fewRows is how many resources may be looked up one by one, rather than in their order.
	fewRows = 2000
)

// spot is a place in an organization's inventory, also one where nothing stands.
type spot struct {
	source         int
	state, address string
}

// The inventory is between these. No text that is kept begins with behindAll.
func atStart() spot      { return spot{source: stateSource} }
func behindStates() spot { return spot{stateSource, behindAll, behindAll} }
func atEnd() spot        { return spot{uploadSource, "", behindAll} }

// behindState is behind all resources of a state, and before those of the next one.
func behindState(name string) spot { return spot{stateSource, name, behindAll} }

func spotOf(p resources.Place) spot { return spot{numberOf(p.Source), string(p.State), p.Address} }

// place is where somebody goes on behind the spot.
func (s spot) place() resources.Place {
	return resources.Place{Source: sourceOf(int64(s.source)), State: state.Name(s.state), Address: s.address}
}

func (s spot) args() []any { return []any{s.source, s.state, s.address} }

func (s spot) before(other spot) bool {
	if s.source != other.source {
		return s.source < other.source
	}
	return s.state < other.state || s.state == other.state && s.address < other.address
}

// stretch is the part of an inventory behind a spot, up to another one.
type stretch struct{ after, to spot }

// within is the condition that a resource r of the organization stands in a stretch. It goes
// with INDEXED BY resources_place: that is the order of places.
const within = `r.org = ? AND (r.source, r.state, r.address) > (?, ?, ?) AND (r.source, r.state, r.address) <= (?, ?, ?)`

func (f finding) within(s stretch) []any {
	return append(append([]any{f.id}, s.after.args()...), s.to.args()...)
}

// stretchOf is the part that the scope and the filters leave, behind a place.
func stretchOf(scope resources.Scope, source resources.Source, name state.Name, after resources.Place) stretch {
	s := stretch{atStart(), atEnd()}
	if !scope.AnyState || source == resources.FromUpload {
		s.after = behindStates()
	}
	if !scope.Uploads || source == resources.FromState {
		s.to = behindStates()
	}
	if name != "" {
		if own := (spot{stateSource, string(name), ""}); s.after.before(own) {
			s.after = own
		}
		if end := behindState(string(name)); end.before(s.to) {
			s.to = end
		}
	}
	if behind := spotOf(after); s.after.before(behind) {
		s.after = behind
	}
	return s
}

// walk goes through a stretch in the order of places, piece by piece. It never stops at what
// the caller may not see: where to go on would tell of it.
type walk struct {
	f     finding
	scope resources.Scope
	rest  stretch
	left  int // how many resources may be looked at; below zero for any number
}

func (f finding) walk(scope resources.Scope, s stretch, most int) *walk {
	return &walk{f: f, scope: scope, rest: s, left: most}
}

// ended reports whether all was looked at.
func (w *walk) ended() bool { return !w.rest.after.before(w.rest.to) }

// next is where another call goes on; the zero Place if all was looked at.
func (w *walk) next() resources.Place {
	if w.ended() {
		return resources.Place{}
	}
	return w.rest.after.place()
}

// more reports whether there is a piece to look at.
func (w *walk) more() bool { return !w.ended() && w.left != 0 }

// piece looks at the next one.
func (w *walk) piece(ctx context.Context, read func(context.Context, *sql.DB, stretch) error) error {
	if err := w.seek(ctx); err != nil || w.ended() {
		return err
	}
	rows := w.f.x.limits.piece
	if w.left > 0 {
		rows = min(rows, w.left)
	}
	return w.f.turn(ctx, func(ctx context.Context, db *sql.DB) error {
		part, looked, err := w.f.part(ctx, db, w.within(), rows)
		if err != nil {
			return err
		}
		if w.rest.after = part.to; w.left > 0 {
			w.left -= looked
		}
		return read(ctx, db, part)
	})
}

// within is as far as a piece may go: for a caller who may not see all states, to the end of
// the one that it is in.
func (w *walk) within() stretch {
	s := w.rest
	if end := behindState(s.after.state); w.scope.States != nil && s.after.before(behindStates()) && end.before(s.to) {
		s.to = end
	}
	return s
}

// seek goes on to the next state that the caller may see. To pass over names is not counted:
// there are no more of them than the organization has states.
func (w *walk) seek(ctx context.Context) error {
	for w.scope.States != nil && w.rest.after.before(behindStates()) && !w.ended() {
		at := w.rest.after
		if at.address != behindAll && at.state != "" && w.scope.States(at.state) {
			return nil
		}
		names, err := w.f.namesBehind(ctx, at.state)
		if err != nil {
			return err
		}
		if w.rest.after = behindStates(); len(names) == w.f.x.limits.piece {
			w.rest.after = behindState(names[len(names)-1])
		}
		if i := slices.IndexFunc(names, w.scope.States); i >= 0 {
			w.rest.after = spot{stateSource, names[i], ""}
		}
	}
	return nil
}

// part is the beginning of a stretch with so many resources, or all of it, and how many
// resources are in it. It ends at one that is shown.
func (f finding) part(ctx context.Context, db *sql.DB, s stretch, rows int) (part stretch, looked int, err error) {
	part = s
	err = db.QueryRowContext(ctx, sqlEnd, append(f.within(s), rows-1)...).Scan(&part.to.source, &part.to.state,
		&part.to.address)
	if !errors.Is(err, sql.ErrNoRows) {
		return part, rows, err
	}
	err = db.QueryRowContext(ctx, sqlRest, f.within(s)...).Scan(&looked)
	return s, max(looked, 1), err
}

const (
	fromStretch = ` FROM resources r INDEXED BY resources_place WHERE ` + within + `
		AND EXISTS (SELECT 1 FROM holdings h WHERE h.id = r.holding AND h.live = 1)`
	sqlEnd = `SELECT r.source, r.state, r.address` + fromStretch +
		` ORDER BY r.source, r.state, r.address LIMIT 1 OFFSET ?`
	sqlRest = `SELECT count(*)` + fromStretch
)
