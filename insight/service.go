package insight

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/insight/cost"
	"github.com/holdfast/holdfast/insight/facts"
	"github.com/holdfast/holdfast/insight/others"
	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/insight/rules"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/internal/model"
	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/runs"
)

// What the server spends on insights.
const (
	maxPlanBytes = 128 << 20 // of a plan that is looked at
	planCopies   = 5         // how often a plan is in memory while it is looked at
	// Policies of others see all of a plan at once, in a form that takes more.
	maxShownBytes = 32 << 20
	shownCopies   = 16
	maxWorking    = 2       // plans that are looked at at once
	maxOwn        = 1       // of these, an organization's
	maxModelling  = 4       // insights that a model is asked about at once
	maxKept       = 64      // insights that are remembered
	maxCompiled   = 16      // bundles of policies that are kept compiled
	maxKeptBytes  = 1 << 20 // of one of these
)

// Plans are the plans of runs, for whoever may read the run.
type Plans interface {
	PlanJSON(ctx context.Context, p auth.Principal, id string) (runs.PlanJSON, error)
}

// Policies are the bundles that organizations and workspaces bring. *policy.Service is one.
type Policies interface {
	InForce(ctx context.Context, org uuid.UUID, workspace string) (policy.InForce, error)
}

// Service is the door to insights of runs.
type Service struct {
	plans    Plans
	policies Policies // nil for none
	compiled *lru.Cache[string, *policy.Compiled]
	memory   *budget.Budget // nil for no bound
	engine   func() (*Engine, error)
	working  *turns.Turns // for those who ask
	gating   *turns.Turns // for the gates of runs, which nobody who asks keeps waiting
	kept     *lru.Cache[keptKey, []byte]
	now      func() time.Time

	model     *model.Client // nil for none
	modelName string
	modelling *turns.Turns                // among those that ask it
	modelled  *lru.Cache[keptKey, []byte] // insights with what it has said
}

// keptKey is the plan of an organization, with what it was shown to, on a day: waivers expire.
type keptKey struct {
	org              uuid.UUID
	digest, policies string
	results          string // of other programs
	day              string
}

// NewService returns a service over the plans of runs. Rules are compiled when they are first asked. Policies are nil
// for none.
func NewService(plans Plans, policies Policies, memory *budget.Budget, now func() time.Time) *Service {
	kept, _ := lru.New[keptKey, []byte](maxKept) // it fails for a size below 1
	compiled, _ := lru.New[string, *policy.Compiled](maxCompiled)
	return &Service{plans: plans, policies: policies, compiled: compiled, memory: memory,
		working: turns.New(maxWorking, maxOwn),
		gating:  turns.New(maxWorking, maxOwn), kept: kept, now: now,
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
	asked, err := s.inForce(ctx, plan.Org, plan.Workspace)
	if err != nil {
		return nil, err
	}
	raw, err := s.of(ctx, s.working, plan, asked)
	if err != nil {
		return nil, err
	}
	return shown(plan, raw)
}

// shown is an insight without the run's secrets. Rules and gates decide by the one that has them.
func shown(plan runs.PlanJSON, raw []byte) ([]byte, error) {
	if plan.Secrets == nil {
		return raw, nil
	}
	return plan.Secrets.Texts(raw)
}

// inForce are the bundles that count for a workspace now.
func (s *Service) inForce(ctx context.Context, org uuid.UUID, workspace string) (policy.InForce, error) {
	if s.policies == nil {
		return policy.InForce{}, nil
	}
	return s.policies.InForce(ctx, org, workspace)
}

// UseModel has a model put insights into words from now on; it is called before anything is asked. Name is what it is
// called in insights.
func (s *Service) UseModel(client *model.Client, name string) {
	s.model, s.modelName = client, name
	s.modelling = turns.New(maxModelling, maxOwn)
	s.modelled, _ = lru.New[keptKey, []byte](maxKept) // it fails for a size below 1
}

// of returns a plan's insight as JSON, with what a model says of it where there is one.
func (s *Service) of(ctx context.Context, among *turns.Turns, plan runs.PlanJSON, asked policy.InForce) ([]byte,
	error) {
	raw, key, err := s.facts(ctx, among, plan, asked)
	if err != nil || s.model == nil {
		return raw, err
	}
	return s.withModel(ctx, plan, key, raw), nil
}

// withModel returns the insight with the model's words, or as it is where there is no place among those who ask. Only
// what the model has said is remembered.
func (s *Service) withModel(ctx context.Context, plan runs.PlanJSON, key keptKey, raw []byte) []byte {
	if said, ok := s.modelled.Get(key); ok {
		return said
	}
	release, ok := s.modelling.TryAcquire(key.org)
	if !ok {
		return raw
	}
	defer release()
	var all, asked api.Insight
	masked, err := shown(plan, raw)
	if err != nil || json.Unmarshal(raw, &all) != nil || json.Unmarshal(masked, &asked) != nil {
		return raw
	}
	WithModel(ctx, &asked, s.model, s.modelName)
	all.Model = asked.Model
	said, err := json.Marshal(all)
	if err != nil {
		return raw
	}
	if all.Model.Error == "" && len(said) <= maxKeptBytes {
		s.modelled.Add(key, said)
	}
	return said
}

// facts returns a plan's insight as JSON, without a model's words, and by what it is remembered.
func (s *Service) facts(ctx context.Context, among *turns.Turns, plan runs.PlanJSON, asked policy.InForce) (raw []byte,
	key keptKey, err error) {
	key = keptKey{plan.Org, plan.Digest, asked.Digest(), "", s.now().UTC().Format(time.DateOnly)}
	size := plan.Size
	if plan.Results != nil {
		key.results = plan.Results.Digest
		size += plan.Results.Size
	}
	if raw, ok := s.kept.Get(key); ok {
		return raw, key, nil
	}
	most, copies := int64(maxPlanBytes), int64(planCopies)
	if len(asked.Bundles) > 0 {
		most, copies = maxShownBytes, shownCopies
	}
	if plan.Size > most {
		return nil, key, fault.New(fault.PlanJSONTooLarge, "the plan's JSON has %d bytes, and %d are looked at", plan.Size, most)
	}
	release, err := place(ctx, among, plan.Org)
	if err != nil {
		return nil, key, err
	}
	defer release()
	if raw, ok := s.kept.Get(key); ok { // somebody else has asked meanwhile
		return raw, key, nil
	}
	hold := s.memory.Hold(budget.Share{Org: plan.Org})
	defer hold.Release()
	if err := hold.Acquire(ctx, size*copies); err != nil {
		return nil, key, err
	}
	raw, err = s.make(ctx, plan, asked)
	if err == nil && len(raw) <= maxKeptBytes {
		s.kept.Add(key, raw)
	}
	return raw, key, err
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

func (s *Service) make(ctx context.Context, plan runs.PlanJSON, asked policy.InForce) ([]byte, error) {
	engine, err := s.engine()
	if err != nil {
		return nil, err
	}
	options, sheet, err := s.options(ctx, asked)
	if err != nil {
		return nil, err
	}
	if sheet != nil {
		engine = engine.WithPrices(sheet)
	}
	if plan.Results != nil {
		found, err := others.ReadRun(plan.Results.Open())
		if err != nil {
			return nil, err
		}
		options.Others, engine = found.Results, engine.WithCosts(found.Costs)
	}
	read, err := facts.ReadPlan(func() (io.Reader, error) { return plan.Open(), nil },
		facts.Limits{Bytes: maxPlanBytes, Kept: maxPlanBytes, Whole: len(options.Own) > 0})
	if err != nil {
		return nil, err
	}
	all, err := engine.Of(ctx, read, options)
	if err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// options has what bundles bring. The price sheet is the last one's that has one: the workspace's, or else
// the organization's; nil for that of the program.
func (s *Service) options(ctx context.Context, asked policy.InForce) (o Options, sheet *cost.Sheet, err error) {
	o.Now = s.now()
	for _, b := range asked.Bundles {
		own := Own{Bundle: &api.InsightPolicy{Name: b.Name, Workspace: b.Workspace, Version: b.Version, Digest: b.Digest,
			Enforce: string(b.Enforce)}}
		made, err := s.compile(ctx, asked, b)
		switch {
		case fault.Is(err, fault.PolicyInvalid): // this version of the program takes what the one before took no more
			own.Broken = "the bundle can't be read any more"
		case err != nil:
			return o, nil, err
		default:
			if own.Set = made.Set; b.Workspace == "" || b.Wide {
				o.Waivers = o.Waivers.With(made.Waivers)
			} else {
				o.Narrow = o.Narrow.With(made.Waivers)
			}
			if made.Prices != nil {
				sheet = made.Prices
			}
		}
		o.Own = append(o.Own, own)
	}
	return o, sheet, nil
}

// compile returns a bundle as it is kept compiled, by what is in it.
func (s *Service) compile(ctx context.Context, asked policy.InForce, b policy.Bundle) (*policy.Compiled, error) {
	if made, ok := s.compiled.Get(b.Digest); ok {
		return made, nil
	}
	files, err := asked.Files(ctx, b)
	if err != nil {
		return nil, err
	}
	made, err := policy.Compile(files)
	if err == nil {
		s.compiled.Add(b.Digest, made)
	}
	return made, err
}
