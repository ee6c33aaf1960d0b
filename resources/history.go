package resources

import (
	"context"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/document"
)

// The work that one call of History does at most.
const (
	maxWalked      = 100     // versions
	maxWalkedBytes = 1 << 30 // of their bodies, but always one
)

// HistoryQuery says whose history to read.
type HistoryQuery struct {
	State   state.Name
	Address string
	From    uint64 // continue behind this version; 0 begins with the newest there is
	// Newer is the version to compare the next one with: the last that could be read, which
	// may be far above From. 0 for none.
	Newer uint64
	Limit int // above zero
}

// History is a part of what became of a resource, the newest first.
type History struct {
	Steps []Step
	// Unread are versions that could not be read: what changed in them is in the step of
	// the version after them.
	Unread []Unread
	// Next continues, with the address that the resource had then; From is 0 at the end.
	Next HistoryQuery
}

// Step is a version in which the resource changed.
type Step struct {
	Version state.Version
	// Against is the version that it is compared with; 0 for the first one that is kept.
	Against uint64
	// Changes are of the object and its deposed ones, with sensitive values masked.
	Changes []document.ResourceChange
}

// Unread is a version and why it could not be read.
type Unread struct {
	Version uint64
	Code    fault.Code
}

// History reads, from version to version, how a resource changed. It follows one that was
// moved to where it was before. Faults: StateNotFound, ResourceNotFound when none of
// the versions has it, StateEncrypted or another reason when none could be read.
func (s *Service) History(ctx context.Context, p auth.Principal, q HistoryQuery) (History, error) {
	if err := p.MayOn(auth.ReadState, string(q.State)); err != nil {
		return History{}, s.refuse(ctx, p, auth.ReadState, string(q.State), err)
	}
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		return History{}, ctx.Err()
	}
	versions, err := s.States.Versions(ctx, p, q.State, q.From, maxWalked+1)
	if err != nil {
		return History{}, err
	}
	w := walk{service: s, caller: p, query: q, more: len(versions) > maxWalked}
	if err := w.resume(ctx); err != nil {
		return History{}, err
	}
	return w.run(ctx, versions[:min(len(versions), maxWalked)])
}

// walk goes through versions, the newest first. It holds one body, and for a moment two.
type walk struct {
	service *Service
	caller  auth.Principal
	query   HistoryQuery // its Address is where the resource is in newer
	more    bool         // there are versions behind the list
	newer   *reading
	visited uint64 // the last of the list, whether it could be read or not
	bytes   int64
	history History
}

// reading is a version with what is at the address in it.
type reading struct {
	version state.Version
	at      *document.Document
}

// resume reads again what the call before this one read last, unless it went meanwhile.
func (w *walk) resume(ctx context.Context) error {
	if w.query.Newer == 0 {
		return nil
	}
	versions, err := w.service.States.Versions(ctx, w.caller, w.query.State, w.query.Newer+1, 1)
	if err != nil || len(versions) == 0 || versions[0].Number != w.query.Newer {
		return err
	}
	return w.visit(ctx, versions[0])
}

func (w *walk) run(ctx context.Context, versions []state.Version) (History, error) {
	for _, v := range versions {
		if w.visited > 0 && (w.full() || w.bytes > maxWalkedBytes) {
			w.stop()
			return w.history, nil
		}
		if err := w.visit(ctx, v); err != nil {
			return History{}, err
		}
		w.visited = v.Number
	}
	switch {
	case w.more || w.full():
		w.stop()
	case w.newer != nil:
		w.step(0, document.ChangesAt(&document.Document{}, w.newer.at, w.query.Address, document.Options{}))
		if w.foundNothing() {
			return History{}, fault.New(fault.ResourceNotFound, "the address is in no version of the state that is kept")
		}
	case w.query.Newer == 0 && len(w.history.Unread) > 0:
		return History{}, unreadable(w.history.Unread[0].Code, "the versions of this state")
	}
	return w.history, nil
}

// foundNothing reports whether all versions were read from the newest on, and none has the
// address. Of what an earlier call has read this one knows nothing.
func (w *walk) foundNothing() bool {
	return w.query.From == 0 && len(w.history.Steps) == 0 && len(w.history.Unread) == 0
}

func (w *walk) full() bool { return len(w.history.Steps) == w.query.Limit }

// stop lets the next call go on behind the version that was visited last, so that each call
// comes further, also through versions that can't be read.
func (w *walk) stop() {
	w.history.Next = w.query
	w.history.Next.From, w.history.Next.Newer = w.visited, 0
	if w.newer != nil {
		w.history.Next.Newer = w.newer.version.Number
	}
}

func (w *walk) visit(ctx context.Context, v state.Version) error {
	if w.newer != nil && w.newer.version.Digest == v.Digest && !v.Purged {
		w.newer.version = v
		return nil
	}
	release, err := w.service.States.Room().Take(ctx, 2*v.Size) // the newer one is about as large
	if err != nil {
		return err
	}
	defer release()
	older, err := w.read(ctx, v)
	if older == nil || err != nil {
		return err
	}
	if w.newer != nil {
		if err := w.compare(ctx, v, older); err != nil {
			return err
		}
	}
	w.newer = &reading{version: v, at: older.At(w.query.Address)}
	return nil
}

// read returns a version; nil for one that can't be read, which is noted.
func (w *walk) read(ctx context.Context, v state.Version) (*document.Document, error) {
	w.bytes += v.Size
	snapshot, err := w.service.States.Version(ctx, w.caller, w.query.State, v.Number)
	var read *document.Document
	if err == nil {
		read, err = document.Parse(snapshot.Body)
	}
	switch {
	case err == nil:
		return read, nil
	case temporary(ctx, err), fault.Is(err, fault.RightMissing):
		return nil, err
	}
	w.history.Unread = append(w.history.Unread, Unread{v.Number, fault.From(err).Code})
	return nil, nil
}

// compare notes what changed at the address, and goes on from where the resource was.
func (w *walk) compare(ctx context.Context, v state.Version, older *document.Document) error {
	before, after := older.At(w.query.Address), w.newer.at
	if (len(before.Instances) > 0) != (len(after.Instances) > 0) {
		// It came, went or moved: only the whole states tell which.
		newer, err := w.read(ctx, w.newer.version)
		if err != nil {
			return err
		}
		if newer != nil {
			before, after = older, newer
		}
	}
	w.step(v.Number, document.ChangesAt(before, after, w.query.Address, document.Options{}))
	return nil
}

func (w *walk) step(against uint64, changes func(func(*document.ResourceChange) bool)) {
	step := Step{Version: w.newer.version, Against: against}
	address := w.query.Address
	for c := range changes {
		step.Changes = append(step.Changes, *c)
		if c.Action == document.Moved && c.Address == address && c.Deposed == "" {
			w.query.Address = c.Previous.Address
		}
	}
	if len(step.Changes) > 0 {
		w.history.Steps = append(w.history.Steps, step)
	}
}
