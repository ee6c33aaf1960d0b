package resources

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// How long Erase waits for its turn and for who reads the index, and how long it pauses
// between two tries.
const (
	erasePatience = 10 * time.Second
	erasePause    = 50 * time.Millisecond
)

// Erase returns when the index has nothing of versions that were purged. Its fault is
// StoreUnavailable: then searches show nothing of it, and only the index's files may have
// some. To ask again makes up for it; so does the indexer, also after a crash.
func (s *Service) Erase(ctx context.Context, p auth.Principal, name state.Name, purged state.Purged) error {
	if err := s.Gate.AuthorizeOn(ctx, p, auth.PurgeVersions, string(name)); err != nil {
		return err
	}
	return s.Indexer.Erase(ctx, state.Ref{Org: p.Org, Name: name}, purged)
}

// Erase takes what came of versions out of the index and its files. They have to be purged
// already: else the indexer reads them again. What was erased before costs nothing.
func (x *Indexer) Erase(ctx context.Context, ref state.Ref, purged state.Purged) error {
	owed := x.scrubs.owed(!purged.Again)
	ctx, cancel := context.WithTimeout(ctx, erasePatience)
	defer cancel()
	for {
		err := x.turn.alone(ctx, func() error { return x.erase(ctx, ref, purged.Destroyed, owed) })
		if err == nil {
			return nil
		}
		select {
		case <-time.After(erasePause):
		case <-ctx.Done():
			return fault.Wrap(err, fault.StoreUnavailable,
				"the version's bytes are destroyed, but the files of the resource index may still have some of them; searches "+
					"show nothing of it; ask again")
		}
	}
}

// erase leaves it to the indexer to read the state's newest version instead.
func (x *Indexer) erase(ctx context.Context, ref state.Ref, numbers []uint64, owed uint64) error {
	have, err := x.Index.Holding(ctx, ref)
	if err != nil {
		return err
	}
	if slices.Contains(numbers, have.Version) && have.Unread != fault.VersionPurged {
		have.Unread = fault.VersionPurged
		if err := x.Index.Replace(ctx, ref, have, none); err != nil {
			return err
		}
		owed = x.scrubs.owed(true)
	}
	if x.scrubs.isDone(owed) {
		return nil // by somebody who had the turn before
	}
	return x.scrubAlone(ctx)
}

// scrubAlone needs the turn.
func (x *Indexer) scrubAlone(ctx context.Context) error {
	owed := x.scrubs.owed(false)
	err := x.Index.Scrub(ctx)
	if err == nil {
		x.scrubs.did(owed)
	}
	return err
}

// scrubs counts what has to be scrubbed out of an index's files. Whatever a process before
// this one has left is the first.
type scrubs struct {
	mu          sync.Mutex
	wanted, end uint64
}

// owed returns what there is to scrub, with one more if there is something new.
func (s *scrubs) owed(more bool) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if more {
		s.wanted++
	}
	return s.wanted + 1
}

func (s *scrubs) did(owed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end = max(s.end, owed)
}

func (s *scrubs) isDone(owed uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end >= owed
}
