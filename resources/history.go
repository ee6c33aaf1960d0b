package resources

import (
	"context"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
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

	hold budget.Hold
}

// Release gives the memory back that the steps take.
func (h *History) Release() { h.hold.Release() }

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
// moved to where it was before. The caller releases it. Faults: StateNotFound,
// ResourceNotFound when none of the versions has it, StateEncrypted or another reason when
// none could be read, Overloaded.
func (s *Service) History(ctx context.Context, p auth.Principal, q HistoryQuery) (History, error) {
	if err := s.Gate.AuthorizeView(ctx, p, auth.ReadState, string(q.State)); err != nil {
		return History{}, err
	}
	versions, err := s.States.Versions(ctx, p, q.State, q.From, maxWalked+1)
	if err != nil {
		return History{}, err
	}
	w := walk{service: s, caller: p, query: q, more: len(versions) > maxWalked}
	w.history.hold = s.Memory.Hold(budget.Share{Org: p.Org})
	if err := w.walk(ctx, versions[:min(len(versions), maxWalked)]); err != nil {
		w.history.Release()
		return History{}, err
	}
	return w.history, nil
}

// walk goes through versions, the newest first. It holds two bodies at most, and none from
// one version to the next: only what came of them.
type walk struct {
	service *Service
	caller  auth.Principal
	query   HistoryQuery // its Address is where the resource is in newer
	more    bool         // there are versions behind the list
	newer   *reading
	visited uint64 // the last of the list, whether it could be read or not
	bytes   int64
	kept    int64 // what the history's steps and their JSON take
	history History
}

func (w *walk) walk(ctx context.Context, versions []state.Version) error {
	if err := w.resume(ctx); err != nil {
		return err
	}
	return w.run(ctx, versions)
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

func (w *walk) run(ctx context.Context, versions []state.Version) error {
	for _, v := range versions {
		if w.visited > 0 && (w.full() || w.bytes > maxWalkedBytes) {
			w.stop()
			return nil
		}
		err := w.visit(ctx, v)
		if fault.Is(err, fault.Overloaded) && w.visited > 0 {
			w.stop() // the next call goes on, when there is memory again
			return nil
		}
		if err != nil {
			return err
		}
		w.visited = v.Number
	}
	switch {
	case w.more || w.full():
		w.stop()
	case w.newer != nil:
		err := w.step(0, &document.Document{}, w.newer.at)
		if fault.Is(err, fault.Overloaded) && w.visited > 0 {
			w.stop()
			return nil
		}
		if err != nil {
			return err
		}
		if w.foundNothing() {
			return fault.New(fault.ResourceNotFound, "the address is in no version of the state that is kept")
		}
	case w.query.Newer == 0 && len(w.history.Unread) > 0:
		return unreadable(w.history.Unread[0].Code, "the versions of this state")
	}
	return nil
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
	bodies := v.Size
	if w.newer != nil {
		if w.newer.version.Digest == v.Digest && !v.Purged {
			w.newer.version = v
			return nil
		}
		bodies += w.newer.version.Size
	}
	// First the memory, then the turn: nobody keeps others from theirs while it waits.
	if err := w.history.hold.Acquire(ctx, bodies); err != nil {
		return err
	}
	defer func() { w.history.hold.Keep(w.keeps()) }()
	release, err := w.service.turns.Acquire(ctx, w.caller.Org)
	if err != nil {
		return err
	}
	defer release()
	if err := w.look(ctx, v); err != nil {
		return err
	}
	if lacks := w.keeps() - w.history.hold.Amount(); lacks > 0 {
		return w.history.hold.AcquireNow(lacks)
	}
	return nil
}

// keeps is what the walk takes from one version to the next.
func (w *walk) keeps() int64 {
	if w.newer == nil {
		return w.kept
	}
	return w.kept + w.newer.at.Size()
}

// look reads a version, and compares the one after it with it.
func (w *walk) look(ctx context.Context, v state.Version) error {
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
	read, err := w.service.States.Parsed(ctx, w.caller, w.query.State, v, w.history.hold.AcquireNow)
	switch {
	case err == nil:
		return read, nil
	case temporary(ctx, err), fault.Is(err, fault.RightMissing), fault.Is(err, fault.StateInternal):
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
	return w.step(v.Number, before, after)
}

// step notes what changed at the address between two versions.
func (w *walk) step(against uint64, before, after *document.Document) error {
	step := Step{Version: w.newer.version, Against: against}
	address, size := w.query.Address, int64(0)
	for c, err := range document.ChangesAt(before, after, w.query.Address,
		document.Options{Memory: w.history.hold.AcquireNow}) {
		if err != nil {
			return err // with the address as it was: the next call does this step again
		}
		step.Changes = append(step.Changes, c.Clone())
		size += 2 * c.Size()
		if c.Action == document.Moved && c.Address == w.query.Address && c.Deposed == "" {
			address = c.Previous.Address
		}
	}
	w.query.Address, w.kept = address, w.kept+size
	if len(step.Changes) > 0 {
		w.history.Steps = append(w.history.Steps, step)
	}
	return nil
}
