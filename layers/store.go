package layers

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// Store keeps layers.
//
// All methods are safe for concurrent use, by several processes too where the database is shared. What returned without
// an error is durable, and every call that begins afterwards sees it. Nothing is ever seen by, or changed for, another
// organization than the one that is named; Due alone returns those of all. Errors about the store itself are faults of
// the codes StoreUnavailable or StoreFull.
type Store interface {
	// Update runs decide on the layer, nil where there is none, and records what it returns, with one more Revision, in
	// one transaction: no other Update of the organization comes between. An error of decide is returned as it is, and
	// nothing is changed. Decide may be called several times; only the last call counts. It has no effects, and calls no
	// store. Update returns the layer as it is then; the zero Layer where there is none.
	Update(ctx context.Context, ref Ref, decide Decision) (Layer, error)
	// Layer returns a layer, or fault.LayerNotFound.
	Layer(ctx context.Context, ref Ref) (Layer, error)
	// Layers returns an organization's by name.
	Layers(ctx context.Context, q Query) ([]Layer, error)
	// Count returns how many layers an organization has.
	Count(ctx context.Context, org uuid.UUID) (int, error)
	// Due returns layers of all organizations whose Due has come, up to limit: of each organization those first that wait
	// the longest, and the first of each before the second of any.
	Due(ctx context.Context, now time.Time, limit int) ([]Ref, error)
	// Wake makes the layers of a repository due, those that are due before that excepted, and returns how many. The
	// Revision of each of the repository's grows: who is looking at one finds that it has to look again.
	Wake(ctx context.Context, org uuid.UUID, repository string, at time.Time) (int, error)
	// Checking returns how many layers of the organization have a check for drift that goes on.
	Checking(ctx context.Context, org uuid.UUID) (int, error)
	// Trend returns the days in numbers on which something was counted, the first first. Of a layer the last MostDays on
	// which something was counted are kept, and none of one that was deleted.
	Trend(ctx context.Context, q TrendQuery) ([]Trend, error)
	// Ready says whether a change would be accepted now.
	Ready(ctx context.Context) error
}

// Decision looks at a layer, and says what is to change.
type Decision func(l *Layer) (Change, error)

// Change is what a decision wants recorded. The zero Change changes nothing.
type Change struct {
	Put    *Layer // its Ref and Revision are the store's own
	Delete bool
	// Tally is added to the layer's numbers of a day, in the same transaction; nil for nothing.
	Tally *Tally
	// Audit is what the audit log is to have of it; nil for nothing. It is kept in the same transaction until it is
	// delivered.
	Audit *audit.Event
}

// Query selects an organization's layers. Zero fields select everything.
type Query struct {
	Org        uuid.UUID
	Repository string
	After      string // continue behind this name
	Limit      int    // above zero
}
