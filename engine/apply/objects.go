package apply

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/eval"
	"github.com/holdfast/holdfast/engine/mark"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/statefile"
)

// progressEvery is how often a long step says that it is still at it.
const progressEvery = 10 * time.Second

func shown(c *plan.Change) cty.Value {
	return mark.Apply(c.After, append(c.Schema.SensitivePaths(c.After), c.Sensitive...))
}

// Object implements eval.Objects. The evaluator is used with r.mu held.
func (r *run) Object(s *eval.Scope, block *config.Resource) (cty.Value, error) {
	repeats, _, err := s.Repeats(block.Count, block.ForEach, block.Construct())
	if err != nil {
		return cty.NilVal, err
	}
	var keys []addr.Key
	var values []cty.Value
	for _, repeat := range repeats {
		value, ok := r.values[block.Address(s.Path, repeat.Key).String()]
		if !ok {
			// What the plan read, or left out, is as the state has it.
			return plan.ValueOf(context.Background(), r.providers.Registry, r.state, s, block)
		}
		keys, values = append(keys, repeat.Key), append(values, value)
	}
	return eval.Combine(keys, values, block.Count != nil, block.ForEach != nil), nil
}

// do does one step and reports whether it went well.
func (r *run) do(ctx context.Context, s *step) bool {
	address := s.change.Address.String()
	place := r.place(s.change.Provider.InState())
	place <- struct{}{}
	if r.over(ctx) { // while it waited for its turn
		<-place
		r.skip(s)
		return false
	}
	action := s.change.Action
	if s.destroy {
		action = plan.Delete
	} else if action.Replaces() {
		action = plan.Create
	}
	start := time.Now()
	if r.options.Before != nil {
		if err := r.options.Before(ctx, s.change); err != nil {
			r.fail(s, action, start, err)
			<-place
			return false
		}
	}
	r.tell(Event{Address: address, Resource: s.change.Address, Action: action, Phase: Started})
	err := r.watched(start, Event{Address: address, Resource: s.change.Address, Action: action,
		Phase: Progress}, func() error {
		if s.destroy {
			return r.destroy(ctx, s.change)
		}
		return r.bring(ctx, s.change)
	})
	if err != nil {
		r.failing.Store(true) // before the next one gets its turn
	}
	<-place
	r.record(s.change, action, err)
	if saved := r.saver.flush(context.WithoutCancel(ctx)); err == nil {
		err = saved
	}
	if r.options.After != nil {
		if stop := r.options.After(ctx, s.change, err); err == nil {
			err = stop
		}
	}
	if err != nil {
		r.fail(s, action, start, err)
		return false
	}
	r.mu.Lock()
	r.result.Succeeded = append(r.result.Succeeded, address)
	switch action {
	case plan.Create:
		r.result.Added++
	case plan.Update:
		r.result.Changed++
	case plan.Delete:
		r.result.Destroyed++
	}
	r.mu.Unlock()
	r.tell(Event{Address: address, Resource: s.change.Address, Action: action, Phase: Finished,
		Elapsed: time.Since(start)})
	return true
}

// fail notes that a step has failed.
func (r *run) fail(s *step, action plan.Action, start time.Time, err error) {
	r.failing.Store(true)
	address := s.change.Address.String()
	err = plan.Explain(err, s.change.Block, s.change.Address)
	r.mu.Lock()
	r.errs, r.result.Failed = append(r.errs, err), append(r.result.Failed, address)
	r.mu.Unlock()
	r.tell(Event{Address: address, Resource: s.change.Address, Action: action, Phase: Failed, Elapsed: time.Since(start),
		Err: err})
}

// record tells what the state has of an object now.
func (r *run) record(c *plan.Change, action plan.Action, err error) {
	if r.options.Record == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.options.Record(Recorded{Resource: c.Address, Action: action, Provider: c.Provider.InState(),
		Instances: r.state.Instances(c.Address), Err: err})
}

// watched calls f and says now and then that it still runs.
func (r *run) watched(start time.Time, e Event, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ticker.C:
			e.Elapsed = time.Since(start)
			r.tell(e)
		}
	}
}

// place is where the steps of one provider take turns.
func (r *run) place(key string) chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.places[key] == nil {
		r.places[key] = make(chan struct{}, r.options.Parallelism)
	}
	return r.places[key]
}

// change has a provider create, change or delete an object. What was begun is begun again only if the provider says
// that it came to nothing: an object that is there, if only half of it, is recorded instead of made twice.
func (r *run) change(ctx context.Context, c *plan.Change, configured provider.Provider, q provider.ApplyRequest) (
	made provider.Object, err error) {
	err = r.call(ctx, c, r.options.Policy.changing(), func(ctx context.Context) error {
		ctx, end := stopping(ctx, configured)
		defer end()
		var err error
		made, err = configured.Apply(ctx, q)
		if err != nil && q.Prior.IsNull() && made.Value != cty.NilVal && !made.Value.IsNull() {
			return final{err}
		}
		return err
	})
	if half, ok := errors.AsType[final](err); ok {
		err = half.error
	}
	return made, err
}

// call makes a provider's call with the retry policy and the provider's breaker.
func (r *run) call(ctx context.Context, c *plan.Change, policy Policy, f func(ctx context.Context) error) error {
	key := c.Provider.InState()
	r.mu.Lock()
	if r.breakers[key] == nil {
		r.breakers[key] = &Breaker{}
	}
	b := r.breakers[key]
	r.mu.Unlock()
	_, err := policy.Do(ctx, func(ctx context.Context) error {
		if err := b.Allow(c.Provider.Provider.String()); err != nil {
			return err
		}
		err := f(ctx)
		outcome := err
		if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
			outcome = errTimeout
		}
		if b.Done(outcome); b.State() == "OPEN" {
			r.log.WarnContext(ctx, "a provider fails all the time, and isn't called for a while", "provider", key)
		}
		return err
	})
	return err
}

// settled evaluates a change's configuration with what is known by now.
func (r *run) settled(ctx context.Context, c *plan.Change) (provider.Provider, cty.Value, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.eval.Find(c.Address.Module)
	if err != nil {
		return nil, cty.NilVal, err
	}
	if s == nil {
		s = r.eval.RootScope()
	}
	resolved := c.Provider
	if resolved.Scope != nil {
		if in, err := r.eval.Find(resolved.Scope.Path); err != nil {
			return nil, cty.NilVal, err
		} else if in != nil {
			resolved.Scope = in
		}
	}
	configured, err := r.providers.Configured(ctx, resolved)
	if err != nil || c.Block == nil {
		return configured, cty.NilVal, err
	}
	value, err := s.Body(c.Block.Body, c.Schema.Block, c.Repeat, c.Block.Construct())
	if err != nil {
		return nil, cty.NilVal, err
	}
	bare, paths := mark.Paths(value)
	c.Sensitive = paths
	return configured, bare, nil
}

// bring creates or updates a resource's object, or reads a data source's.
func (r *run) bring(ctx context.Context, c *plan.Change) error {
	if c.Action == plan.Forget {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.state.Remove(c.Address, c.Deposed)
		return nil
	}
	configured, config, err := r.settled(ctx, c)
	if err != nil {
		return err
	}
	if !config.IsWhollyKnown() {
		return &diag.Error{Category: diag.Planning, Address: c.Address.String(),
			Summary: fmt.Sprintf("the configuration of %s isn't known after what it depends on is done", c.Address)}
	}
	if c.Action == plan.Read {
		return r.read(ctx, c, configured, config)
	}
	prior, private := c.Before, c.PriorPrivate
	if c.Action != plan.Update {
		prior, private = cty.NullVal(c.Schema.CtyType()), nil
	}
	planned, err := r.replan(ctx, c, configured, prior, config, private)
	if err != nil {
		return err
	}
	deposed := ""
	if c.Action == plan.CreateBeforeDestroy {
		deposed = r.depose(c)
	}
	object, err := r.change(ctx, c, configured, provider.ApplyRequest{Type: c.Address.Type, Prior: prior,
		Planned: planned.Planned, Config: config, Private: planned.Private})
	if err == nil {
		err = r.visible(ctx, c, configured, &object)
	}
	return r.keep(c, object, err, deposed)
}

// replan asks the provider again, now that everything is known. It may fill in what was unknown, and
// nothing else.
func (r *run) replan(ctx context.Context, c *plan.Change, configured provider.Provider, prior, config cty.Value,
	private []byte) (provider.PlanResult, error) {
	if c.Action == plan.Update { // what is replaced is as the configuration says, whatever was there
		config = plan.Ignore(c, config)
	}
	planned, err := configured.Plan(ctx, provider.PlanRequest{Type: c.Address.Type, Prior: prior,
		Proposed: plan.Propose(c.Schema.Block, prior, config), Config: config, Private: private})
	if err != nil {
		return planned, err
	}
	if at := differs(c.After, planned.Planned); at != nil && !c.Legacy {
		return planned, &provider.Fault{Summary: "the provider plans something else now that everything is known",
			Detail: "at " + provider.PathString(at)}
	}
	return planned, nil
}

// differs finds a path that was known and has another value now.
func differs(before, after cty.Value) cty.Path {
	var found cty.Path
	_ = cty.Walk(before, func(path cty.Path, v cty.Value) (bool, error) {
		if found != nil || !v.IsKnown() {
			return false, nil
		}
		if v.Type().IsSetType() && !v.IsWhollyKnown() {
			return false, nil
		}
		now, err := path.Apply(after)
		primitive := v.IsNull() || !v.CanIterateElements() || v.Type().IsSetType()
		if err != nil || primitive && !now.RawEquals(v) {
			found = path.Copy()
			if found == nil {
				found = cty.Path{}
			}
			return false, nil
		}
		return !v.Type().IsSetType(), nil
	})
	return found
}

func (r *run) read(ctx context.Context, c *plan.Change, configured provider.Provider, config cty.Value) error {
	var value cty.Value
	err := r.call(ctx, c, r.options.Policy, func(ctx context.Context) error {
		var err error
		value, err = configured.ReadData(ctx, c.Address.Type, config)
		return err
	})
	if err != nil {
		return err
	}
	return r.keep(c, provider.Object{Value: value}, nil, "")
}

// visible waits until an object that was created can be read, where the provider says that takes time.
func (r *run) visible(ctx context.Context, c *plan.Change, configured provider.Provider,
	object *provider.Object) error {
	slow, ok := configured.(provider.Eventual)
	if !ok || c.Action == plan.Update || object.Value.IsNull() {
		return nil
	}
	return waitVisible(ctx, slow.VisibleWithin(c.Address.Type), func(ctx context.Context) (bool, error) {
		now, err := configured.Read(ctx, provider.ReadRequest{Type: c.Address.Type, Object: *object})
		if err != nil {
			return Retryable(err), err
		}
		if now.Value.IsNull() {
			return false, nil
		}
		*object = now
		return true, nil
	})
}

// depose sets the current object aside, so that its replacement can be recorded.
func (r *run) depose(c *plan.Change) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, in := r.state.Find(c.Address, "")
	if in == nil {
		return ""
	}
	var b [4]byte
	_, _ = rand.Read(b[:])
	aside := *in
	aside.Deposed = hex.EncodeToString(b[:])
	r.state.Remove(c.Address, "")
	r.state.Set(c.Address, c.Provider.InState(), aside)
	c.Deposed = aside.Deposed
	return aside.Deposed
}

// keep writes down what the provider says the object is. One that failed half-way is kept as tainted, so
// that the next plan replaces it.
func (r *run) keep(c *plan.Change, object provider.Object, failed error, deposed string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	value := object.Value
	if failed == nil && (value == cty.NilVal || value.IsNull()) {
		failed = &provider.Fault{Summary: "the provider returned no object"}
	}
	if value != cty.NilVal && !value.IsWhollyKnown() { // what is known of the object is recorded all the same
		if failed == nil {
			failed = &provider.Fault{Summary: "the provider left values unknown after it was done"}
		}
		value = cty.UnknownAsNull(value)
	}
	if value == cty.NilVal || value.IsNull() {
		if deposed != "" { // the one before is still there
			if _, in := r.state.Find(c.Address, deposed); in != nil {
				back := *in
				back.Deposed = ""
				r.state.Remove(c.Address, deposed)
				r.state.Set(c.Address, c.Provider.InState(), back)
			}
		}
		return failed
	}
	in, err := plan.Recorded(value, c.Schema, c.Sensitive)
	if err != nil {
		return err
	}
	in.Private, in.Dependencies, in.CreateBeforeDestroy = object.Private, c.Dependencies, c.CreateFirst
	if failed != nil && c.Action != plan.Update {
		in.Status = statefile.Tainted
	}
	r.state.Set(c.Address, c.Provider.InState(), in)
	r.values[c.Address.String()] = mark.Apply(value, append(c.Schema.SensitivePaths(value), c.Sensitive...))
	return failed
}

// destroy deletes an object.
func (r *run) destroy(ctx context.Context, c *plan.Change) error {
	configured, _, err := r.settledProvider(ctx, c)
	if err != nil {
		return err
	}
	prior, private := c.Before, c.PriorPrivate
	null := cty.NullVal(c.Schema.CtyType())
	schemas, err := configured.Schemas(ctx)
	if err != nil {
		return err
	}
	if schemas.PlansDestroy {
		planned, err := configured.Plan(ctx, provider.PlanRequest{Type: c.Address.Type, Prior: prior, Proposed: null,
			Config: null, Private: private})
		if err != nil {
			return err
		}
		private = planned.Private
	}
	object, err := r.change(ctx, c, configured, provider.ApplyRequest{Type: c.Address.Type, Prior: prior, Planned: null,
		Config: null, Private: private})
	if err != nil {
		return err
	}
	if object.Value != cty.NilVal && !object.Value.IsNull() {
		return &provider.Fault{Summary: "the provider says that the object is still there"}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Remove(c.Address, c.Deposed)
	return nil
}

func (r *run) settledProvider(ctx context.Context, c *plan.Change) (provider.Provider, cty.Value, error) {
	bare := *c
	bare.Block = nil
	return r.settled(ctx, &bare)
}

// outputs records the root's outputs.
func (r *run) outputs() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.plan.Options.Targets) > 0 {
		return nil
	}
	outputs := map[string]statefile.Output{}
	for _, o := range r.plan.Outputs {
		if o.Action == plan.Delete {
			continue
		}
		value, err := r.eval.RootScope().Output(o.Name)
		if err != nil {
			return err
		}
		bare, _ := mark.Paths(value)
		if bare.IsNull() {
			continue
		}
		text, err := ctyjson.Marshal(bare, bare.Type())
		if err != nil {
			return err
		}
		t, err := json.Marshal(bare.Type())
		if err != nil {
			return err
		}
		outputs[o.Name] = statefile.Output{Value: text, Type: t, Sensitive: o.Sensitive}
	}
	r.state.Outputs = outputs
	return nil
}
