package dual

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"
)

// compareTries is how often an organization that is owed something is looked at until a
// difference counts.
const compareTries = 5

// Comparison is what the sides have of an organization.
type Comparison struct {
	Org   uuid.UUID `json:"organization"`
	CSV   Extent    `json:"csv"`
	MySQL Extent    `json:"mysql"`
	// Differ says that there is more to the difference than what a side is owed or refuses.
	Differ bool `json:"differ"`
}

// Extent is what a side has of an organization, and what it is known to lack.
type Extent struct {
	Records int64 `json:"records"`
	Newest  Time  `json:"newest"`
	Owed    int64 `json:"owed"`    // records that the outbox keeps for it
	Refused int64 `json:"refused"` // records of dead letters, and of those that were given up
}

// Time is a time that is null in JSON when there is none.
type Time struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.Time.MarshalJSON()
}

// SidesDiffer reports whether the sides were found to differ, beyond what one of them is
// owed or refuses, when they were compared after Open.
func (s *Store) SidesDiffer() bool { return s.differ.Load() }

// Compare looks at each organization that a side has: how many records, and the time of the
// newest. Nothing is read but counts and one record.
func (s *Store) Compare(ctx context.Context) iter.Seq2[Comparison, error] {
	return func(yield func(Comparison, error) bool) {
		orgs, err := s.organizations(ctx)
		if err != nil {
			yield(Comparison{}, err)
			return
		}
		for _, org := range orgs {
			c, err := s.compare(ctx, org)
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// organizations returns those of both sides, each once: CSV's first, then what MySQL has
// besides.
func (s *Store) organizations(ctx context.Context) ([]uuid.UUID, error) {
	seen := map[uuid.UUID]bool{}
	var all []uuid.UUID
	for _, d := range s.sides {
		for org, err := range d.store.Organizations(ctx) {
			if err != nil {
				return nil, err
			}
			if !seen[org] {
				seen[org] = true
				all = append(all, org)
			}
		}
	}
	return all, nil
}

// compare looks at one organization. Debts may be paid meanwhile, and a side may have what it is
// owed because its answer was lost: that shows as a difference, which is one only if it lasts
// while whoever pays tries again.
func (s *Store) compare(ctx context.Context, org uuid.UUID) (c Comparison, err error) {
	if err := s.enter(); err != nil {
		return Comparison{}, err
	}
	defer s.leave()
	l := s.lane(org)
	for range compareTries {
		c, err = s.compareInTurn(ctx, l)
		if err != nil || !c.Differ || c.CSV.Owed+c.MySQL.Owed == 0 {
			return c, err
		}
		l.nudge()
		select {
		case <-s.o.After(firstWait):
		case <-ctx.Done():
			return c, ctx.Err()
		}
	}
	return c, nil
}

// compareInTurn looks at an organization once, while nothing is uploaded for it.
func (s *Store) compareInTurn(ctx context.Context, l *lane) (Comparison, error) {
	if err := l.take(ctx); err != nil {
		return Comparison{}, err
	}
	defer l.give()
	c, lacks := Comparison{Org: l.org}, l.lacks()
	for n, extent := range []*Extent{csv: &c.CSV, mysql: &c.MySQL} {
		if err := s.measure(ctx, s.sides[n], l.org, extent); err != nil {
			return c, err
		}
		extent.Owed, extent.Refused = lacks[n].owed.records, lacks[n].dead.records
	}
	if c.Differ = differ(c.CSV, c.MySQL); !c.Differ {
		return c, nil // a side that was filled anew has what was given up too
	}
	c.CSV.Refused += lacks[csv].discarded
	c.MySQL.Refused += lacks[mysql].discarded
	c.Differ = differ(c.CSV, c.MySQL)
	return c, nil
}

// differ goes by the counts, and by the newest record where neither side lacks one.
func differ(a, b Extent) bool {
	if a.Records+a.Owed+a.Refused != b.Records+b.Owed+b.Refused {
		return true
	}
	whole := a.Owed+a.Refused+b.Owed+b.Refused == 0
	return whole && !a.Newest.Equal(b.Newest.Time)
}

// lack is what an organization lacks on a side.
type lack struct {
	owed, dead tally
	discarded  int64
}

func (l *lane) lacks() (all [2]lack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := range all {
		all[n] = lack{l.owed[n], l.dead[n], l.discarded[n]}
	}
	return all
}

// measure costs what a summary does, which grows with the groups and not the records.
func (s *Store) measure(ctx context.Context, d *side, org uuid.UUID, into *Extent) error {
	ctx, cancel := context.WithTimeout(ctx, s.o.SideTimeout)
	defer cancel()
	groups, err := d.store.Summary(ctx, org)
	if err != nil {
		return err
	}
	for _, g := range groups {
		into.Records += g.Count
		into.Newest.Time = later(into.Newest.Time, g.Last)
	}
	return nil
}
