package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage/moving"
)

// Move is a move of all that servers keep, but for uploads, from a folder to a database or back. Make
// it with OpenMove.
type Move struct {
	from, to place
	parts    []part
}

// part is what is moved together.
type part struct {
	from, to moving.Side
	usage    [2]moving.Shape // of from and to; without a name for none
	complete func(moving.Tx) error
}

// place is one end of a move.
type place interface {
	marks
	// String names it for people, and for who finds its mark at the other end.
	String() string
	// open makes it this process's own, and has what is in it up to date. It fails when a server has it.
	open(ctx context.Context) error
	// idle returns nil when no server has it, once marks keep new ones away.
	idle(ctx context.Context) error
	// sides are what it keeps, in an order that is every place's. Sides that it has not are empty.
	sides(ctx context.Context) ([]keep, error)
	uses
	close() error
}

// keep is what a place has of a part.
type keep struct {
	name     string
	side     moving.Side
	usage    moving.Shape
	complete func(moving.Tx) error
	missing  bool // there is none, and nobody has to make one to have nothing
}

// OpenMove opens both ends, which are those of the settings, whatever state.storage and runs.storage
// are. served says that a server has the folder that is moved from, and goes on to write it. The
// caller closes the move.
func OpenMove(ctx context.Context, settings configs.Settings, from, to string, served bool,
	log *slog.Logger) (_ *Move, err error) {
	m := &Move{}
	if m.from, err = placeOf(settings, from, true, served, log); err != nil {
		return nil, err
	}
	if m.to, err = placeOf(settings, to, false, served, log); err != nil {
		return nil, err
	}
	if (from == configs.SQLite) == (to == configs.SQLite) {
		return nil, fmt.Errorf("there is no move from %q to %q", from, to)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	for _, p := range []place{m.from, m.to} {
		if err := p.open(ctx); err != nil {
			return nil, err
		}
	}
	return m, m.match(ctx)
}

// placeOf is an end of a move, by what it is called in settings.
func placeOf(settings configs.Settings, name string, source, served bool, log *slog.Logger) (place, error) {
	switch engine := settings.Database.Engine(); {
	case name == configs.SQLite:
		dir, err := filepath.Abs(settings.Storage.Path)
		return &folderPlace{dir: dir, log: log, source: source, served: served}, err
	case name == engine:
		return &databasePlace{settings: settings, log: log, source: source}, nil
	case name == configs.Postgres:
		return nil, errors.New("the settings name no database of PostgreSQL: set DATABASE_URL ([database] url) to " +
			"postgres://user:password@host:5432/name")
	case name == configs.MySQL:
		return nil, errors.New("DATABASE_URL ([database] url) is a database of PostgreSQL: take it away, or move with " +
			"postgres in the place of mysql")
	}
	return nil, fmt.Errorf("there is no move with %q", name)
}

// AbandonMove does what Abandon does. It opens the source alone: the target may be away for good.
func AbandonMove(ctx context.Context, settings configs.Settings, from string, served bool,
	log *slog.Logger) (err error) {
	source, err := placeOf(settings, from, true, served, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	if err := source.open(ctx); err != nil {
		return err
	}
	return source.drop(ctx, markSource)
}

// match finds what each end has of the same.
func (m *Move) match(ctx context.Context) error {
	from, err := m.from.sides(ctx)
	if err != nil {
		return err
	}
	to, err := m.to.sides(ctx)
	if err != nil {
		return err
	}
	for i, f := range from {
		if !f.missing {
			m.parts = append(m.parts, part{f.side, to[i].side, [2]moving.Shape{f.usage, to[i].usage}, to[i].complete})
		}
	}
	if len(m.parts) == 0 {
		return fmt.Errorf("there is nothing in %v", m.from)
	}
	return nil
}

// Begin marks both ends, so that no server serves what is half there, and says whether a move that was
// begun before goes on. It refuses a target that has anything that no such move has brought, and ends
// that servers have.
func (m *Move) Begin(ctx context.Context) (again bool, err error) {
	if again, err = m.begun(ctx); err != nil {
		return false, err
	}
	if !again {
		err = m.empty(ctx) // before anybody is kept from it
	}
	if err == nil {
		err = m.mark(ctx, again)
	}
	if err == nil {
		err = errors.Join(m.from.idle(ctx), m.to.idle(ctx))
	}
	if err == nil && !again {
		err = m.freshen(ctx)
	}
	if err != nil && !again { // servers may go on as before
		ctx := context.WithoutCancel(ctx)
		err = errors.Join(err, m.from.drop(ctx, markSource), m.to.drop(ctx, markTarget))
	}
	return again, err
}

// freshen makes sure that nobody has written to the target while it was not marked yet, and says so in its
// mark: only then is what is in it the move's to take away, though this process ends here.
func (m *Move) freshen(ctx context.Context) error {
	if err := m.empty(ctx); err != nil {
		return err
	}
	return m.to.set(ctx, Mark{Role: markTarget, Other: m.from.String(), Fresh: true})
}

// mark marks both ends, the target first: while it is marked nobody serves it.
func (m *Move) mark(ctx context.Context, fresh bool) error {
	if err := m.to.set(ctx, Mark{Role: markTarget, Other: m.from.String(), Fresh: fresh}); err != nil {
		return err
	}
	if left, err := m.Left(ctx); err != nil || left {
		return err // all was there, and the mark of the target alone is to be taken away
	}
	return m.from.set(ctx, Mark{Role: markSource, Other: m.to.String()})
}

// ErrMoved says that a move was finished before.
type ErrMoved struct{ At time.Time }

// Error implements error.
func (e ErrMoved) Error() string { return "all of it was moved at " + shown(e.At) + " already" }

// begun reports whether the marks are those of this move, which has come so far that the target is its own.
func (m *Move) begun(ctx context.Context) (bool, error) {
	there, _, err := m.to.all(ctx)
	if err != nil {
		return false, err
	}
	here, _, err := m.from.all(ctx)
	if err != nil {
		return false, err
	}
	target, begun := find(there, markTarget)
	if begun && !isPlace(target.Other, m.from) {
		return false, fmt.Errorf("a move from %s to %v has begun at %s; finish that one, or take an empty target",
			target.Other, m.to, shown(target.At))
	}
	if half, some := find(here, markTarget); some {
		return false, fmt.Errorf("%v has only a part of what is in %s: a move to it has begun at %s", m.from, half.Other,
			shown(half.At))
	}
	if gone, some := find(here, markSource); some && gone.Done && isPlace(gone.Other, m.to) && !begun {
		return false, ErrMoved{gone.At}
	} else if some && gone.Done && !begun {
		return false, fmt.Errorf("%v was moved to %s at %s: what is here is not what is served", m.from, gone.Other,
			shown(gone.At))
	}
	return begun && target.Fresh, nil
}

// empty refuses a target that has something.
func (m *Move) empty(ctx context.Context) error {
	for _, p := range m.parts {
		for _, shape := range p.to.Shapes {
			n, err := p.to.Count(ctx, shape)
			if err != nil {
				return err
			}
			if shape.Name == "organizations" {
				n-- // the store's own
			}
			if n > 0 {
				return fmt.Errorf("%v is not empty: it has %d records of %s; nothing was changed", m.to, n, shape.Name)
			}
		}
	}
	return nil
}

// Records says how many there are to move.
func (m *Move) Records(ctx context.Context) (all int64, err error) {
	for _, p := range m.parts {
		for _, shape := range p.from.Shapes {
			n, err := p.from.Count(ctx, shape)
			if err != nil {
				return 0, err
			}
			all += n
		}
	}
	return all, nil
}

// Copy makes the target equal to the source; see moving.Copy.
func (m *Move) Copy(ctx context.Context, read bool, tell moving.Progress) error {
	for _, p := range m.parts {
		if err := moving.Copy(ctx, p.from, p.to, read, tell); err != nil {
			return fmt.Errorf("%v: %w", m.to, err)
		}
		if p.complete == nil {
			continue
		}
		if err := p.to.Change(ctx, 0, p.complete); err != nil {
			return fmt.Errorf("%v: %w", m.to, err)
		}
	}
	return m.copyUses(ctx)
}

// Verify reads all of both ends, and compares it; without the bodies where those were compared before.
func (m *Move) Verify(ctx context.Context, bodies bool, tell moving.Progress) (all []moving.Compared, err error) {
	for _, p := range m.parts {
		from, to := p.from, p.to
		if p.usage[0].Name != "" {
			from.Shapes = append(from.Shapes[:len(from.Shapes):len(from.Shapes)], p.usage[0])
			to.Shapes = append(to.Shapes[:len(to.Shapes):len(to.Shapes)], p.usage[1])
		}
		some, err := moving.Compare(ctx, from, to, bodies, tell)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// Left reports whether the source is not served any more, since all of it had been copied.
func (m *Move) Left(ctx context.Context) (bool, error) {
	here, _, err := m.from.all(ctx)
	gone, some := find(here, markSource)
	return some && gone.Done, err
}

// Target is what the other end of the move is called.
func (m *Move) Target() string { return m.to.String() }

// Finish lets servers serve the target, and keeps them from the source.
func (m *Move) Finish(ctx context.Context) error {
	left, err := m.Left(ctx)
	if err != nil {
		return err
	}
	if !left {
		// A server that had begun before there was a mark, and was not heard of by then, may be by now.
		if err := m.from.idle(ctx); err != nil {
			return err
		}
		if err := m.from.set(ctx, Mark{Role: markSource, Other: m.to.String(), Done: true}); err != nil {
			return err
		}
	}
	return m.to.drop(ctx, markTarget)
}

// Abandon lets servers serve the source again, as it is, whether the move was finished or not. What a
// target has of a move that was not stays marked.
func (m *Move) Abandon(ctx context.Context) error { return m.from.drop(ctx, markSource) }

// Close ends the use of both ends.
func (m *Move) Close() error {
	return errors.Join(m.from.close(), m.to.close())
}

// exists reports whether there is a file.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
