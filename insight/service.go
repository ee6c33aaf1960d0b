package insight

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/insight/facts"
	"github.com/holdfast/holdfast/insight/rules"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/runs"
)

// What the server spends on insights.
const (
	maxPlanBytes = 128 << 20 // of a plan that is looked at
	planCopies   = 5         // how often a plan is in memory while it is looked at
	maxWorking   = 2         // plans that are looked at at once
	maxOwn       = 1         // of these, an organization's
	maxKept      = 64        // insights that are remembered
	maxKeptBytes = 1 << 20   // of one of these
)

// Plans are the plans of runs, for whoever may read the run.
type Plans interface {
	PlanJSON(ctx context.Context, p auth.Principal, id string) (runs.PlanJSON, error)
}

// Service is the door to insights of runs.
type Service struct {
	plans   Plans
	memory  *budget.Budget // nil for no bound
	engine  func() (*Engine, error)
	working *turns.Turns // for those who ask
	gating  *turns.Turns // for the gates of runs, which nobody who asks keeps waiting
	kept    *lru.Cache[keptKey, []byte]
	now     func() time.Time
}

// keptKey is the plan of an organization.
type keptKey struct {
	org    uuid.UUID
	digest string
}

// NewService returns a service over the plans of runs. Rules are compiled when they are first asked.
func NewService(plans Plans, memory *budget.Budget, now func() time.Time) *Service {
	kept, _ := lru.New[keptKey, []byte](maxKept) // it fails for a size below 1
	return &Service{plans: plans, memory: memory, working: turns.New(maxWorking, maxOwn),
		gating: turns.New(maxWorking, maxOwn), kept: kept, now: now,
		engine: sync.OnceValues(func() (*Engine, error) { return NewEngine(rules.Limits{}) })}
}

// OfRun returns the insight of a run's plan as JSON: an api.Insight. The caller needs the right to
// read the run. Its faults are those of the run and of its file, PlanJSONInvalid, PlanJSONTooLarge
// and Overloaded.
func (s *Service) OfRun(ctx context.Context, p auth.Principal, id string) ([]byte, error) {
	plan, err := s.plans.PlanJSON(ctx, p, id)
	if err != nil {
		return nil, err
	}
	return s.of(ctx, s.working, plan)
}

// of returns a plan's insight as JSON.
func (s *Service) of(ctx context.Context, among *turns.Turns, plan runs.PlanJSON) ([]byte, error) {
	key := keptKey{plan.Org, plan.Digest}
	if raw, ok := s.kept.Get(key); ok {
		return raw, nil
	}
	if plan.Size > maxPlanBytes {
		return nil, fault.New(fault.PlanJSONTooLarge, "the plan's JSON has %d bytes, and %d are looked at", plan.Size,
			maxPlanBytes)
	}
	release, err := place(ctx, among, plan.Org)
	if err != nil {
		return nil, err
	}
	defer release()
	if raw, ok := s.kept.Get(key); ok { // somebody else has asked meanwhile
		return raw, nil
	}
	hold := s.memory.Hold(budget.Share{Org: plan.Org})
	defer hold.Release()
	if err := hold.Acquire(ctx, plan.Size*planCopies); err != nil {
		return nil, err
	}
	raw, err := s.make(ctx, plan)
	if err == nil && len(raw) <= maxKeptBytes {
		s.kept.Add(key, raw)
	}
	return raw, err
}

// place is one among the plans that are looked at. It is not waited for where nobody waits.
func place(ctx context.Context, among *turns.Turns, org uuid.UUID) (release func(), err error) {
	if !budget.IsAtOnce(ctx) {
		return among.Acquire(ctx, org)
	}
	release, ok := among.TryAcquire(org)
	if !ok {
		return nil, fault.New(fault.Overloaded, "as many plans as the server looks at at once are looked at")
	}
	return release, nil
}

func (s *Service) make(ctx context.Context, plan runs.PlanJSON) ([]byte, error) {
	engine, err := s.engine()
	if err != nil {
		return nil, err
	}
	read, err := facts.ReadPlan(func() (io.Reader, error) { return plan.Open(), nil },
		facts.Limits{Bytes: maxPlanBytes, Kept: maxPlanBytes})
	if err != nil {
		return nil, err
	}
	all, err := engine.Of(ctx, read, Options{Now: s.now()})
	if err != nil {
		return nil, err
	}
	return json.Marshal(all)
}
