// Package apply does what a plan says: in order, in parallel where the order leaves it, and with every
// object recorded as soon as it is there.
package apply

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/eval"
	"github.com/holdfast/holdfast/engine/oplog"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/statefile"
	"github.com/holdfast/holdfast/internal/graph"
)

// DefaultParallelism is how many objects of one provider are worked on at once.
const DefaultParallelism = 10

// Options say how to apply.
type Options struct {
	Parallelism int // for each provider
	Policy      Policy

	// Continue goes on with what doesn't depend on a failed object; otherwise nothing new is begun.
	Continue bool

	// Stop, once closed, lets what runs come to its end and begins nothing new.
	Stop <-chan struct{}

	// Events is told what happens, from one goroutine at a time.
	Events func(Event)

	// Before is asked before each object's step, and After told of its end. An error of Before has the step
	// fail without being begun, one of After has it fail though it is done and recorded. Steps of several
	// objects call them at once.
	Before func(ctx context.Context, c *plan.Change) error
	After  func(ctx context.Context, c *plan.Change, err error) error

	// Record is told what the state has of an object after its step, from one goroutine at a time.
	Record func(Recorded)

	// Save keeps the state. It is called after every object, once for those that are done at the same time.
	Save func(ctx context.Context, f *statefile.File) error
}

// Phase is where an object's step is.
type Phase string

// The phases.
const (
	Started  Phase = "started"
	Progress Phase = "progress"
	Finished Phase = "finished"
	Failed   Phase = "failed"
	Skipped  Phase = "skipped"
)

// Event is something that happened to an object.
type Event struct {
	Address  string
	Resource addr.Resource
	Action   plan.Action
	Phase    Phase
	Elapsed  time.Duration
	Err      error
}

// Recorded is what the state has of an object after a step.
type Recorded struct {
	Resource  addr.Resource
	Action    plan.Action
	Provider  string
	Instances []statefile.Instance // the current one and those that are deposed
	Err       error
}

// Result is what an apply has done.
type Result struct {
	State                       *statefile.File
	Added, Changed, Destroyed   int
	Succeeded, Failed, NotBegun []string
}

// run is one apply.
type run struct {
	options   Options
	plan      *plan.Plan
	eval      *eval.Evaluator
	providers *plan.Providers
	steps     map[string]*step
	saver     *saver

	mu       sync.Mutex // guards all below, and the evaluator
	state    *statefile.File
	written  bool                 // something was saved
	values   map[string]cty.Value // of instances, as others see them
	result   Result
	errs     []error
	breakers map[string]*Breaker
	places   map[string]chan struct{}

	failing atomic.Bool // a step has failed
	telling sync.Mutex
	log     *slog.Logger
}

// Do applies a plan. With an error the result still says what is done, and the state has it.
func Do(ctx context.Context, p *plan.Plan, registry *provider.Registry, options Options) (*Result, error) {
	if options.Parallelism <= 0 {
		options.Parallelism = DefaultParallelism
	}
	if options.Policy.Attempts == 0 {
		options.Policy = DefaultPolicy()
	}
	all, order, err := steps(p)
	if err != nil {
		return nil, err
	}
	r := &run{options: options, plan: p, steps: all, providers: plan.NewProviders(registry), state: p.Prior.Clone(),
		values: map[string]cty.Value{}, breakers: map[string]*Breaker{}, places: map[string]chan struct{}{},
		log: oplog.From(ctx, "apply")}
	r.log.DebugContext(ctx, "the steps are in order", "steps", len(all))
	r.saver = &saver{save: r.save}
	r.eval = eval.New(p.Root, p.Inputs, r)
	r.eval.Settled = false
	for _, c := range p.Changes {
		if c.Deposed == "" && c.Block != nil {
			r.values[c.Address.String()] = shown(c)
		}
	}
	failed := r.walk(ctx, order)
	return r.finish(ctx, failed)
}

// walk does all steps, each as soon as what it waits for is done.
func (r *run) walk(ctx context.Context, g *graph.Graph) bool {
	names := g.Names()
	waiting := map[string]int{}
	ready := make([]string, 0, len(names))
	for _, name := range names {
		if waiting[name] = len(g.DependsOn(name)); waiting[name] == 0 {
			ready = append(ready, name)
		}
	}
	type end struct {
		name string
		ok   bool
	}
	ends := make(chan end)
	bad := map[string]bool{}
	running, anyFailed := 0, false
	finish := func(name string, ok bool) {
		bad[name] = !ok
		for _, next := range g.RequiredBy(name) {
			if bad[name] {
				bad[next] = true
			}
			if waiting[next]--; waiting[next] == 0 {
				ready = append(ready, next)
			}
		}
	}
	for len(ready) > 0 || running > 0 {
		for len(ready) > 0 {
			name := ready[0]
			ready = ready[1:]
			s := r.steps[name]
			switch {
			case s == nil:
				finish(name, !bad[name])
			case bad[name] || r.over(ctx):
				r.skip(s)
				finish(name, false)
			default:
				running++
				go func() { ends <- end{name, r.do(ctx, s)} }()
			}
		}
		if running == 0 {
			continue
		}
		e := <-ends
		running--
		anyFailed = anyFailed || !e.ok
		finish(e.name, e.ok)
	}
	return anyFailed
}

// over reports whether nothing more is begun.
func (r *run) over(ctx context.Context) bool {
	return r.failing.Load() && !r.options.Continue || r.stopped() || ctx.Err() != nil
}

func (r *run) stopped() bool {
	select {
	case <-r.options.Stop:
		return r.options.Stop != nil
	default:
		return false
	}
}

func (r *run) skip(s *step) {
	r.mu.Lock()
	r.result.NotBegun = append(r.result.NotBegun, s.change.Address.String())
	r.mu.Unlock()
	r.tell(Event{Address: s.change.Address.String(), Resource: s.change.Address, Action: s.change.Action, Phase: Skipped})
}

func (r *run) tell(e Event) {
	r.write(e)
	if r.options.Events == nil {
		return
	}
	r.telling.Lock()
	defer r.telling.Unlock()
	r.options.Events(e)
}

// write has the log say what happens to an object.
func (r *run) write(e Event) {
	level, attrs := slog.LevelInfo, []any{"address", e.Address, "action", string(e.Action), "phase", string(e.Phase)}
	if e.Phase != Started && e.Phase != Skipped {
		attrs = append(attrs, "elapsed_ms", e.Elapsed.Milliseconds())
	}
	if e.Err != nil {
		level, attrs = slog.LevelError, append(attrs, "exception", e.Err.Error())
	}
	r.log.Log(context.Background(), level, "a step of an object", attrs...)
}

// finish evaluates the outputs, saves the state and says how it went.
func (r *run) finish(ctx context.Context, failed bool) (*Result, error) {
	ctx = context.WithoutCancel(ctx)
	if !failed && len(r.result.NotBegun) == 0 {
		if err := r.outputs(); err != nil {
			r.errs = append(r.errs, err)
		}
	}
	if err := r.providers.Close(); err != nil {
		r.errs = append(r.errs, err)
	}
	if err := r.saver.flush(ctx); err != nil {
		r.errs = append(r.errs, err)
	}
	r.result.State = r.state
	if len(r.errs) == 0 && len(r.result.NotBegun) == 0 {
		return &r.result, nil
	}
	var texts []string
	for _, err := range r.errs {
		texts = append(texts, err.Error())
	}
	e := &diag.Error{Category: diag.Partial, Summary: fmt.Sprintf("%d of %d steps are done and recorded",
		len(r.result.Succeeded), len(r.steps)), Detail: strings.Join(texts, "\n"),
		Hint: "apply again: what is done stays, and the rest is planned anew"}
	if len(r.errs) > 0 {
		e.Err = r.errs[0]
	}
	if len(r.errs) == 0 {
		e.Detail = "it was interrupted"
	}
	return &r.result, e
}

// unchanged reports whether the state is the one that is stored.
func (r *run) unchanged() bool {
	if r.plan.Absent {
		return false
	}
	stored, err := r.plan.Recorded.Bytes()
	if err != nil {
		return false
	}
	now, err := r.state.Bytes()
	return err == nil && bytes.Equal(stored, now)
}

// save writes what is recorded now, under the next serial, unless that is what is stored.
func (r *run) save(ctx context.Context) error {
	r.mu.Lock()
	if !r.written && r.unchanged() {
		r.mu.Unlock()
		return nil
	}
	r.written = true
	r.state.Serial++
	copied := r.state.Clone()
	r.mu.Unlock()
	if r.options.Save == nil {
		return nil
	}
	return r.options.Save(ctx, copied)
}
