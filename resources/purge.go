package resources

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// erasePatience is how long Erase waits for its turn.
const erasePatience = 10 * time.Second

// Erase returns when the index has nothing of versions that were purged. Its fault is
// StoreUnavailable: then searches show nothing of it. To ask again makes up for it; so does the indexer.
func (s *Service) Erase(ctx context.Context, p auth.Principal, name state.Name, purged state.Purged) error {
	if err := s.Gate.AuthorizeOn(ctx, p, auth.PurgeVersions, string(name)); err != nil {
		return err
	}
	return s.Indexer.Erase(ctx, state.Ref{Org: p.Org, Name: name}, purged)
}

// Erase takes what came of versions out of the index. They have to be purged already: else the
// indexer reads them again. It leaves it to the indexer to read the state's newest version instead.
func (x *Indexer) Erase(ctx context.Context, ref state.Ref, purged state.Purged) error {
	ctx, cancel := context.WithTimeout(ctx, erasePatience)
	defer cancel()
	err := x.turn.alone(ctx, func() error {
		have, err := x.Index.Holding(ctx, ref)
		if err != nil || !slices.Contains(purged.Destroyed, have.Version) || have.Unread == fault.VersionPurged {
			return err
		}
		have.Unread = fault.VersionPurged
		return x.Index.Replace(ctx, ref, have, none)
	})
	if err == nil {
		return nil
	}
	return fault.Wrap(err, fault.StoreUnavailable,
		"the version's bytes are destroyed, but the resource index may still have some of them; searches show nothing of "+
			"it; ask again")
}
