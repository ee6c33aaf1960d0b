package resources

import (
	"context"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/state"
)

// Deps are what a Service stands on.
type Deps struct {
	Index   Finder
	Indexer *Indexer
	States  *state.Service
	Events  Events
	Gate    *audit.Gate
	Uploads inventory.Store
	Memory  *budget.Budget // of bodies; nil bounds nothing
}

// Service is the door to the inventory: every operation names its caller, and shows that
// caller's organization only.
type Service struct {
	Deps
	turns *turns.Turns // of reading a version for somebody's history
}

// How many versions are read at once for histories, by all and by one organization: each
// takes up a processor.
const (
	maxReadings    = 2
	maxOwnReadings = 1
)

// NewService returns a service.
func NewService(d Deps) *Service {
	return &Service{Deps: d, turns: turns.New(maxReadings, maxOwnReadings)}
}

// Extent says what an answer is of.
type Extent struct {
	// States and Uploads are the sources that the caller may see; Limited says that it is
	// only some of the states.
	States, Uploads, Limited bool
	// Behind says that something was written that is not in the answer yet.
	Behind bool
	// Unread are states that are not in the answer because they could not be read, up to
	// MaxUnread of them; UnreadMore says that there are others.
	Unread     []Held
	UnreadMore bool
}

// MaxUnread is how many of the states that could not be read an answer names.
const MaxUnread = 1000

// Page is a page of a search.
type Page struct {
	Resources []Resource
	Next      Place // continues behind the page, which may be short; the zero Place at the end
	Extent
}

// Search looks for resources in what the caller may see: in states with state:read, within
// the key's patterns, and in uploads with data:read. A query for one state that can't be
// read has the reason as its fault, such as StateEncrypted.
func (s *Service) Search(ctx context.Context, p auth.Principal, q Query) (Page, error) {
	scope, err := s.scopeOf(ctx, p)
	if err == nil {
		err = s.shownAtAll(ctx, p, q.State)
	}
	if err != nil {
		return Page{}, err
	}
	extent, scope, err := s.extent(ctx, p.Org, scope, scope.searched(q))
	if err == nil {
		err = s.readable(ctx, p.Org, scope, q.State)
	}
	if err != nil {
		return Page{}, err
	}
	page := Page{Extent: extent}
	page.Resources, page.Next, err = s.Index.Search(ctx, p.Org, scope, q)
	return page, err
}

// CoveragePage is a page of resources that have a status.
type CoveragePage struct {
	Covered []Covered
	Next    Place // as of a Page
	Extent
}

// Coverage lists resources with a status. For a caller who may see some states only, the
// others count as if they were not there. Faults are as for Search.
func (s *Service) Coverage(ctx context.Context, p auth.Principal, q CoverageQuery) (CoveragePage, error) {
	extent, scope, err := s.compared(ctx, p, q.State)
	if err != nil {
		return CoveragePage{}, err
	}
	page := CoveragePage{Extent: extent}
	page.Covered, page.Next, err = s.Index.Coverage(ctx, p.Org, scope, q)
	return page, err
}

// PermitSearch returns why the caller may not search; nil if they may. Search finds out by
// itself: this is for who wants to know before there is memory for what it finds.
func (s *Service) PermitSearch(ctx context.Context, p auth.Principal) error {
	_, err := s.scopeOf(ctx, p)
	return err
}

// PermitCoverage is PermitSearch for Coverage and Count.
func (s *Service) PermitCoverage(ctx context.Context, p auth.Principal) error {
	_, err := s.scopeOfBoth(ctx, p)
	return err
}

// Count counts what Coverage lists, for each status.
func (s *Service) Count(ctx context.Context, p auth.Principal, q CoverageQuery) (Counts, Extent, error) {
	extent, scope, err := s.compared(ctx, p, q.State)
	if err != nil {
		return nil, Extent{}, err
	}
	counts, err := s.Index.Count(ctx, p.Org, scope, q)
	return counts, extent, err
}

// Claims returns what else claims objects of a state, by their addresses there, as far as the index knows by now: other
// states and uploads, those that the caller may see. Whoever may not see the state itself learns nothing.
func (s *Service) Claims(ctx context.Context, p auth.Principal, of state.Name,
	addresses []string) (map[string][]Claim, error) {
	if len(addresses) == 0 || p.May(auth.ReadState) != nil {
		return nil, nil
	}
	scope, err := s.scopeOf(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.Index.Claims(ctx, p.Org, scope, of, addresses)
}

// Activity returns what the indexer did, for metrics.
func (s *Service) Activity() Activity { return s.Indexer.Activity() }

// compared is what a comparison is of. Other states than the one that is asked for count
// too: they may claim the same objects.
func (s *Service) compared(ctx context.Context, p auth.Principal, of state.Name) (Extent, Scope, error) {
	scope, err := s.scopeOfBoth(ctx, p)
	if err == nil {
		err = s.shownAtAll(ctx, p, of)
	}
	if err != nil {
		return Extent{}, scope, err
	}
	extent, scope, err := s.extent(ctx, p.Org, scope, scope)
	if err == nil {
		err = s.readable(ctx, p.Org, scope, of)
	}
	return extent, scope, err
}

// scopeOf is what the caller may see of both sources, with a right on one of them.
func (s *Service) scopeOf(ctx context.Context, p auth.Principal) (Scope, error) {
	scope := Scope{AnyState: p.May(auth.ReadState) == nil, Uploads: p.May(auth.ReadData) == nil}
	if !scope.AnyState && !scope.Uploads {
		return Scope{}, s.Gate.Authorize(ctx, p, auth.ReadState)
	}
	if p.States != nil && scope.AnyState {
		scope.States = p.States.Match
	}
	if scope.AnyState && !p.Exposure.ShowsAll() {
		inner := scope.States
		scope.States = func(name string) bool { return p.SeesValues(name) && (inner == nil || inner(name)) }
	}
	return scope, nil
}

// shownAtAll refuses a search in one state whose values are for its runs alone. In a search of several, it is left out.
func (s *Service) shownAtAll(ctx context.Context, p auth.Principal, name state.Name) error {
	if name == "" || p.SeesValues(string(name)) || p.MayOn(auth.ReadMetadata, string(name)) != nil {
		return nil
	}
	return s.Gate.AuthorizeView(ctx, p, auth.ReadState, string(name))
}

// scopeOfBoth is scopeOf for what compares the sources, which takes both rights.
func (s *Service) scopeOfBoth(ctx context.Context, p auth.Principal) (Scope, error) {
	for _, right := range []auth.Right{auth.ReadData, auth.ReadState} {
		if err := s.Gate.Authorize(ctx, p, right); err != nil {
			return Scope{}, err
		}
	}
	return s.scopeOf(ctx, p)
}
