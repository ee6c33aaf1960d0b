package resources

import (
	"context"
	"slices"
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
func (s *Service) Erase(ctx context.Context, p auth.Principal, name state.Name, numbers ...uint64) error {
	if err := p.MayOn(auth.PurgeVersions, string(name)); err != nil {
		return s.refuse(ctx, p, auth.PurgeVersions, string(name), err)
	}
	return s.Indexer.Erase(ctx, state.Ref{Org: p.Org, Name: name}, numbers...)
}

// Erase takes what came of versions out of the index and its files. They have to be purged
// already: else the indexer reads them again.
func (x *Indexer) Erase(ctx context.Context, ref state.Ref, numbers ...uint64) error {
	ctx, cancel := context.WithTimeout(ctx, erasePatience)
	defer cancel()
	for {
		err := x.turn.alone(ctx, func() error { return x.erase(ctx, ref, numbers) })
		if err == nil {
			return nil
		}
		select {
		case <-time.After(erasePause):
		case <-ctx.Done():
			return fault.Wrap(err, fault.StoreUnavailable,
				"the version's bytes are destroyed, but the files of the resource index may still have some of them; searches show nothing of it; ask again")
		}
	}
}

// erase leaves it to the indexer to read the state's newest version instead.
func (x *Indexer) erase(ctx context.Context, ref state.Ref, numbers []uint64) error {
	have, err := x.Index.Holding(ctx, ref)
	if err == nil && slices.Contains(numbers, have.Version) && have.Unread != fault.VersionPurged {
		have.Unread = fault.VersionPurged
		err = x.Index.Replace(ctx, ref, have, none)
	}
	if err != nil {
		return err
	}
	return x.Index.Scrub(ctx)
}
