package layers

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Service is the door to layers: every operation names its caller, and touches that caller's organization only.
type Service struct {
	Deps
	looks *looks
}

// Deps is what a Service stands on.
type Deps struct {
	Store        Store
	Repositories Repositories
	Workspaces   Workspaces
	Runs         Runs
	Inventory    Inventory // nil for none
	Gate         *audit.Gate
	Audit        audit.Recorder
	// Deliver puts into the audit log what a Store keeps of changes for it; nil where somebody else does.
	Deliver   func(ctx context.Context, org uuid.UUID)
	MaxLayers int // of an organization; 0 for the default
	Now       func() time.Time
	Log       *slog.Logger
}

// ErrApart says that two commits can't be compared: the history was written anew, or there is too much between them.
var ErrApart = errors.New("layers: the commits are apart")

// ErrNoBranch says that a repository has no such branch.
var ErrNoBranch = errors.New("layers: there is no such branch")

const defaultMaxLayers = 10_000

// NewService returns a service on what it stands on.
func NewService(d Deps) *Service {
	d.MaxLayers = cmp.Or(d.MaxLayers, defaultMaxLayers)
	return &Service{d, newLooks()}
}

func (s *Service) clock() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// right is what a remediation needs of who sets it: what applies by itself is set by who may apply.
func (r Remediation) right() auth.Right {
	if r == Dry {
		return auth.WriteWorkspace
	}
	return auth.ApplyRun
}

// New is a layer that is to be made.
type New struct {
	Name string
	Tooling
	Settings Settings

	was *Settings // what they are a change of; nil for none
}

// Add makes a layer, and its workspace where there is none of its name. To make it again with the same settings changes
// nothing. Faults: LayerInvalid, LayerExists, LayersFull, those of the repository and of the workspace.
func (s *Service) Add(ctx context.Context, p auth.Principal, n New) (Layer, error) {
	return s.put(ctx, p, n, false)
}

// Get returns a layer. Fault: LayerNotFound.
func (s *Service) Get(ctx context.Context, p auth.Principal, name string) (Layer, error) {
	if err := s.Gate.AuthorizeOn(ctx, p, auth.ReadWorkspace, name); err != nil {
		return Layer{}, err
	}
	l, err := s.Store.Layer(ctx, Ref{p.Org, name})
	return seen(p, l), err
}

// List returns layers by name, those that the caller may see. A page may have fewer than its limit and still be
// followed by more: next continues it. It names no layer that the caller may not see.
func (s *Service) List(ctx context.Context, p auth.Principal, q Query) (all []Layer, next string, err error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadWorkspace); err != nil {
		return nil, "", err
	}
	q.Org = p.Org
	limit := q.Limit
	for {
		page, err := s.Store.Layers(ctx, q)
		if err != nil {
			return nil, "", err
		}
		if next = ""; len(page) == q.Limit {
			next = page[len(page)-1].Name
		}
		all = slices.DeleteFunc(page, func(l Layer) bool { return !p.States.Match(l.Name) })
		if len(all) > 0 || next == "" {
			break
		}
		q.After, q.Limit = next, max(q.Limit, passedAtOnce)
	}
	if len(all) > limit || next != "" && !p.States.Match(next) {
		all = all[:min(len(all), limit)]
		next = all[len(all)-1].Name
	}
	for i := range all {
		all[i] = seen(p, all[i])
	}
	return all, next, nil
}

// passedAtOnce is how many layers are looked at in one go on the way to those that the caller may see.
const passedAtOnce = 100

// Configure changes settings.
func (s *Service) Configure(ctx context.Context, p auth.Principal, name string, change func(*Settings)) (Layer, error) {
	if err := s.Gate.AuthorizeOn(ctx, p, auth.WriteWorkspace, name); err != nil {
		return Layer{}, err
	}
	return fault.Again(func() (Layer, error) {
		l, err := s.Get(ctx, p, name)
		if err != nil {
			return Layer{}, err
		}
		was := l.Settings
		change(&l.Settings)
		return s.put(ctx, p, New{Name: name, Settings: l.Settings, was: &was}, true)
	})
}

// Remove takes a layer away. Its workspace and state stay; a run that goes on does.
func (s *Service) Remove(ctx context.Context, p auth.Principal, name string) error {
	if err := s.Gate.AuthorizeOn(ctx, p, auth.WriteWorkspace, name); err != nil {
		return err
	}
	ref, there := Ref{p.Org, name}, false
	_, err := s.Store.Update(ctx, ref, func(l *Layer) (Change, error) {
		if there = l != nil; !there {
			return Change{}, fault.New(fault.LayerNotFound, "there is no layer %q", name)
		}
		return Change{Delete: true, Audit: s.entry(p, audit.LayerRemove, name, "")}, nil
	})
	_, err = s.acted(ctx, p, Layer{}, err)
	return err
}

// Sync asks for a plan, whatever the layer's state is: failures before count no more.
func (s *Service) Sync(ctx context.Context, p auth.Principal, name string) (Layer, error) {
	if err := s.Gate.AuthorizeOn(ctx, p, auth.PlanRun, name); err != nil {
		return Layer{}, err
	}
	l, err := s.change(ctx, p, s.entry(p, audit.LayerSync, name, ""), func(l *Layer) error {
		l.Facts.Sync = SyncFact{At: s.clock(), By: cmp.Or(p.Subject, p.KeyName, p.KeyID)}
		l.Facts.Failures, l.Facts.Stale, l.Facts.Declined = Failures{}, Staleness{}, ""
		l.Brought = Brought{} // somebody's draft may be newer: what the repository has is brought again
		return nil
	})
	return s.acted(ctx, p, l, err)
}

// Check asks for a check for drift now. A layer that was never planned is planned instead.
func (s *Service) Check(ctx context.Context, p auth.Principal, name string) (Layer, error) {
	if err := s.Gate.AuthorizeOn(ctx, p, auth.PlanRun, name); err != nil {
		return Layer{}, err
	}
	l, err := s.change(ctx, p, s.entry(p, audit.LayerSync, name, "a check for drift"), func(l *Layer) error {
		l.Facts.Asked = s.clock()
		return nil
	})
	return s.acted(ctx, p, l, err)
}

// change changes a layer that is there, and has it looked at.
func (s *Service) change(ctx context.Context, p auth.Principal, entry *audit.Event,
	change func(*Layer) error) (Layer, error) {
	return s.Store.Update(ctx, Ref{p.Org, entry.State}, func(l *Layer) (Change, error) {
		if l == nil {
			return Change{}, fault.New(fault.LayerNotFound, "there is no layer %q", entry.State)
		}
		if err := change(l); err != nil {
			return Change{}, err
		}
		now := s.clock()
		l.judge(now)
		l.Due = now
		return Change{Put: l, Audit: entry}, nil
	})
}

// Expect says that drift is as it should be until it expires. Faults: LayerInvalid, LayerNotFound.
func (s *Service) Expect(ctx context.Context, p auth.Principal, name string, e Expectation) (Layer, error) {
	if err := s.Gate.AuthorizeOn(ctx, p, auth.WriteWorkspace, name); err != nil {
		return Layer{}, err
	}
	now := s.clock()
	e.Attribute = cmp.Or(e.Attribute, "*")
	switch {
	case len(brokenRules([]Rule{e.Rule})) > 0:
		return Layer{}, fault.New(fault.LayerInvalid, "an expectation has the address of a resource, which may have stars")
	case e.Owner == "" || e.Reason == "" || len(e.Owner) > mostText || len(e.Reason) > 1000:
		return Layer{}, fault.New(fault.LayerInvalid, "an expectation has an owner and a reason")
	case !e.Expires.After(now) || e.Expires.After(now.AddDate(1, 0, 1)):
		return Layer{}, fault.New(fault.LayerInvalid, "an expectation expires, in a year at the latest")
	}
	e.ID, e.By, e.At = uuid.NewString(), ActorOf(p), now
	l, err := s.change(ctx, p, s.entry(p, audit.DriftExpect, name, e.Reason), func(l *Layer) error {
		l.Expected = slices.DeleteFunc(l.Expected, func(old Expectation) bool { return !now.Before(old.Expires) })
		if len(l.Expected) >= mostExpected {
			return fault.New(fault.LayersFull, "the layer has %d expectations, and may have no more", mostExpected)
		}
		l.Expected = append(l.Expected, e)
		l.expect(now)
		return nil
	})
	return s.acted(ctx, p, l, err)
}

// expect applies expectations to the drift that is known.
func (l *Layer) expect(now time.Time) {
	for i, r := range l.Drifted {
		l.Drifted[i].Expected = coveredBy(l.Expected, r, now)
	}
	l.Facts.Drift.Digest, l.Facts.Drift.Count = DriftDigest(l.Drifted)
}

// Unexpect takes an expectation back; absent is fine.
func (s *Service) Unexpect(ctx context.Context, p auth.Principal, name, id string) (Layer, error) {
	if err := s.Gate.AuthorizeOn(ctx, p, auth.WriteWorkspace, name); err != nil {
		return Layer{}, err
	}
	l, err := s.change(ctx, p, s.entry(p, audit.DriftExpect, name, "taken back"), func(l *Layer) error {
		l.Expected = slices.DeleteFunc(l.Expected, func(e Expectation) bool { return e.ID == id })
		l.expect(s.clock())
		return nil
	})
	return s.acted(ctx, p, l, err)
}

// maxGrouped is how many resources that have drifted are shown at once.
const maxGrouped = 20_000

// Drift returns what has drifted in the layers that the caller may see, by its cause.
func (s *Service) Drift(ctx context.Context, p auth.Principal) ([]Group, error) {
	var all []Layer
	shown := 0
	for after := ""; ; {
		page, next, err := s.List(ctx, p, Query{After: after, Limit: 100})
		if err != nil {
			return nil, err
		}
		for _, l := range page {
			if shown += len(l.Drifted); len(l.Drifted) > 0 {
				all = append(all, Layer{Ref: l.Ref, Drifted: l.Drifted})
			}
		}
		if after = next; next == "" || shown > maxGrouped {
			return Groups(all), nil
		}
	}
}

// Claims says which other states, and which uploads, claim what has drifted of a layer, by its addresses, as far as the
// caller may see them and the inventory knows.
func (s *Service) Claims(ctx context.Context, p auth.Principal, l Layer) map[string][]Claim {
	if s.Inventory == nil || len(l.Drifted) == 0 {
		return nil
	}
	addresses := make([]string, len(l.Drifted))
	for i, r := range l.Drifted {
		addresses[i] = r.Address
	}
	found, err := s.Inventory.Claims(ctx, p, l.Name, addresses)
	if err != nil { // the report is good without
		s.Log.WarnContext(ctx, "who else claims what has drifted is not known", "layer", l.Name, "error", err)
	}
	return found
}

// entry is what the audit log has of what somebody did.
func (s *Service) entry(p auth.Principal, action audit.Action, name, reason string) *audit.Event {
	return &audit.Event{At: s.clock(), Org: p.Org, Actor: audit.ActorOf(p), Action: action, State: name, Reason: reason,
		Note: "layer " + name}
}

// acted has the entry of what somebody did delivered, and returns what became of it, as they may see it.
func (s *Service) acted(ctx context.Context, p auth.Principal, l Layer, err error) (Layer, error) {
	if err == nil && s.Deliver != nil {
		s.Deliver(ctx, p.Org)
	}
	return seen(p, l), err
}

func (s *Service) record(ctx context.Context, e audit.Event) bool {
	err := s.Audit.Record(context.WithoutCancel(ctx), e)
	if err != nil {
		s.Log.ErrorContext(ctx, "an action on a layer is not in the audit log", "action", e.Action, "error", err)
	}
	return err == nil
}
