package pulls

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Store keeps pull requests.
//
// All methods are safe for concurrent use, by several processes too where the database is shared. What
// returned without an error is durable, and every call that begins afterwards sees it. Nothing is ever
// seen by, or changed for, another organization than the one that is named; Due alone returns those of
// all. Errors about the store itself are faults of the codes StoreUnavailable or StoreFull.
type Store interface {
	// Hint makes a pull request due at that time, unless it is due before, and makes one that is not known.
	Hint(ctx context.Context, ref Ref, at time.Time) error
	// Due returns pull requests that are due and that nobody has claimed, those first that wait the longest.
	Due(ctx context.Context, now time.Time, limit int) ([]Ref, error)
	// Claim gives a pull request to the token until then, and returns it as it is, with the number of
	// hints so far. Of several claims at once one is given it; ok is false for the others, and where it is
	// not due or not there.
	Claim(ctx context.Context, ref Ref, token string, now, until time.Time) (p Pull, hints int64, ok bool, err error)
	// Save keeps a pull request that the token has claimed. It returns false, and keeps nothing, once
	// somebody else has claimed it.
	Save(ctx context.Context, p Pull, token string) (bool, error)
	// Finish ends a claim: the pull request is due at next, never for the zero time, or at now where there
	// were more hints meanwhile.
	Finish(ctx context.Context, ref Ref, token string, hints int64, now, next time.Time) error

	// Settings returns what a repository wants of pull requests; the zero Settings where nobody has said.
	Settings(ctx context.Context, org uuid.UUID, repository string) (Settings, error)
	// SetSettings keeps that.
	SetSettings(ctx context.Context, org uuid.UUID, repository string, s Settings) error

	// Forget removes what a repository wants of pull requests, and those that are known of it.
	Forget(ctx context.Context, org uuid.UUID, repository string) error

	// Resting returns pull requests of all organizations that are never due and that nobody has claimed, in the order of
	// organization, repository and number, those behind one; the zero Ref begins.
	Resting(ctx context.Context, after Ref, limit int) ([]Pull, error)
	// Remove removes one of these, unless it was changed, or is due again or claimed.
	Remove(ctx context.Context, p Pull) (removed bool, err error)

	// Pull returns a pull request; false where there is none.
	Pull(ctx context.Context, ref Ref) (Pull, bool, error)
	// Pulls returns those of an organization, of a repository or of all for the empty name, those first
	// that have the highest numbers.
	Pulls(ctx context.Context, org uuid.UUID, repository string, limit int) ([]Pull, error)
}
