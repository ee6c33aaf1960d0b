package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/enclave"
)

// apply makes one partition as it is to be.
func (r *Reconciler) apply(ctx context.Context, p *enclave.Partition) Result {
	result := Result{Path: p.Path(), Needs: p.Needs()}
	err := r.applied(ctx, p, &result)
	if err != nil {
		result.Outcome, result.Reason = Failed, err.Error()
		r.tell(p.Path(), "failed: %v", err)
	}
	return result
}

// looks is how often a partition is looked at anew because a run that went on has ended.
const looks = 5

func (r *Reconciler) applied(ctx context.Context, p *enclave.Partition, result *Result) error {
	for range looks {
		l, err := r.look(ctx, p)
		if err != nil {
			return err
		}
		result.Action, result.Why, result.Outputs = l.action(), l.why, l.has
		if result.Action == None {
			result.Outcome = Unchanged
			return nil
		}
		if r.isDriven(p) {
			return r.provision(ctx, l, result)
		}
		goesOn, err := r.makeWay(ctx, l)
		if err != nil {
			return err
		}
		if goesOn {
			continue
		}
		return r.run(ctx, l, result)
	}
	return fmt.Errorf("runs of others come between again and again")
}

// makeWay ends a run of a configuration that is not wanted any more, or waits for its end.
func (r *Reconciler) makeWay(ctx context.Context, l *look) (again bool, err error) {
	if l.open == nil || !l.outdated() && l.open.Kind == "apply" {
		return false, nil
	}
	if l.open.Status == awaiting && l.open.Reconcile != "" {
		r.tell(l.partition.Path(), "discarding run %s, which is of another configuration", l.open.ID)
		return true, r.Server.Discard(ctx, l.open.ID, "a reconcile wants another configuration")
	}
	r.tell(l.partition.Path(), "waiting for the end of run %s", l.open.ID)
	run, err := r.Server.Await(ctx, l.open.ID, r.Wait, r.teller(l.partition.Path()))
	if err == nil && !ended(run.Status) {
		err = fmt.Errorf("run %s is in the way: it %s", run.ID, run.Reason)
	}
	return true, err
}

const awaiting = "awaiting_approval"

// run brings to the server what differs, and has it applied.
func (r *Reconciler) run(ctx context.Context, l *look, result *Result) error {
	path := l.partition.Path()
	if err := r.bring(ctx, l); err != nil {
		return err
	}
	run := l.open
	if run == nil || l.outdated() {
		made, err := r.order(ctx, path, "apply")
		if err != nil {
			return err
		}
		run = &made
		r.tell(path, "run %s: %s", run.ID, shortened(l.why))
	} else {
		r.tell(path, "going on with run %s, which is %s", run.ID, run.Status)
	}
	result.Run = run.ID
	end, err := r.Server.Await(ctx, run.ID, r.Wait, r.teller(path))
	if err != nil {
		return err
	}
	return r.finish(ctx, l, end, result)
}

// bring brings settings, variables and files to the server, in this order: who is stopped in between finds
// a configuration that was not applied, or one that differs still.
func (r *Reconciler) bring(ctx context.Context, l *look) error {
	path := l.partition.Path()
	if l.change != nil {
		if err := r.Server.Configure(ctx, path, l.exists, *l.change); err != nil {
			return err
		}
	}
	if len(l.variables.Set)+len(l.variables.Unset) > 0 {
		if err := r.reveal(ctx, l); err != nil {
			return err
		}
		if err := r.Server.ChangeVariables(ctx, path, l.variables); err != nil {
			return err
		}
	}
	if !l.push {
		return nil
	}
	made, err := r.Server.Push(ctx, path, l.files, l.there.Snapshot.Number, "reconcile "+r.ID)
	if err == nil {
		r.tell(path, "configuration %d", made.Number)
	}
	return err
}

// reveal puts in the values of sensitive variables that are to be set. They must be of the states that the record
// names: another version by now is for the next look.
func (r *Reconciler) reveal(ctx context.Context, l *look) error {
	if !slices.ContainsFunc(l.variables.Set, func(v api.VariableValue) bool { return v.Sensitive }) {
		return nil
	}
	inputs, sources, err := r.resolve(ctx, l.partition, true)
	if err != nil {
		return err
	}
	if !maps.Equal(sources, l.record.Sources) {
		return errors.New("what it imports from has changed meanwhile: do the same again")
	}
	for i, v := range l.variables.Set {
		for _, in := range inputs {
			if v.Kind == kindTerraform && v.Name == in.Name {
				l.variables.Set[i].Value = in.Value
			}
		}
	}
	return nil
}

// order orders a run. Where the workspace wants approvals, nobody can approve beforehand.
func (r *Reconciler) order(ctx context.Context, path, kind string) (api.Run, error) {
	order := api.RunOrder{Workspace: path, Kind: kind, Message: "reconcile " + r.ID, Reconcile: r.ID,
		AutoApprove: r.Approve}
	run, err := r.Server.Order(ctx, order, r.ID+"."+kind+"."+path)
	if client.IsCode(err, "approval_needed") && order.AutoApprove {
		order.AutoApprove = false
		run, err = r.Server.Order(ctx, order, r.ID+".asked."+kind+"."+path)
	}
	return run, err
}

// finish says how a run has gone, and wants the declared outputs.
func (r *Reconciler) finish(ctx context.Context, l *look, run api.Run, result *Result) error {
	path := l.partition.Path()
	switch {
	case run.Status == awaiting:
		result.Outcome, result.Reason = Waiting, "holdfast run approve "+run.ID
		r.tell(path, "run %s waits for an approval: holdfast run approve %s", run.ID, run.ID)
		return nil
	case run.Status != succeeded:
		return fmt.Errorf("run %s is %s: %s", run.ID, run.Status, run.Reason)
	}
	has, _, err := r.outputsOf(ctx, l.partition, false)
	if err != nil {
		return err
	}
	if err := missing(l.partition, has); err != nil {
		return err
	}
	result.Outcome, result.Outputs = Applied, has
	r.tell(path, "applied")
	return nil
}

// lookDriven asks a driver.
func (r *Reconciler) lookDriven(ctx context.Context, l *look) error {
	driver, err := r.driver(l.partition)
	if err != nil {
		return err
	}
	before, err := r.recordOf(ctx, l.partition.Path())
	if err != nil {
		return err
	}
	if before != nil && l.partition.Backend == enclave.Managed {
		return fmt.Errorf("its backend was %s, which has made something: take that away before it is managed", before.Backend)
	}
	seen, err := driver.Observe(ctx, l.partition.Path())
	if err != nil {
		return err
	}
	if l.exists = seen.Exists; seen.Exists {
		var version uint64
		if l.has, version, err = r.outputsOf(ctx, l.partition, false); err != nil {
			return err
		}
		l.exists = version > 0 || l.partition.Backend == enclave.Managed // a tool takes a state that is gone for an empty one
	}
	switch {
	case !l.exists:
		l.because("it isn't there yet")
	case seen.Same == nil || !seen.Same(l.partition, l.record, l.inputs):
		l.because("its inputs or files differ, or it was not applied to its end")
	case r.All:
		l.because("all are asked for")
	default:
		if err := missing(l.partition, l.has); err != nil {
			l.because("%v", err)
		}
	}
	return nil
}

// provision has a driver make a partition.
func (r *Reconciler) provision(ctx context.Context, l *look, result *Result) error {
	driver, err := r.driver(l.partition)
	if err != nil {
		return err
	}
	inputs := l.inputs
	if slices.ContainsFunc(inputs, isSensitive) {
		if inputs, _, err = r.resolve(ctx, l.partition, true); err != nil {
			return err
		}
	}
	if _, err := driver.Provision(ctx, l.partition, l.record, inputs); err != nil {
		return err
	}
	has, _, err := r.outputsOf(ctx, l.partition, false)
	if err == nil {
		err = missing(l.partition, has)
	}
	if err == nil {
		result.Outcome, result.Outputs = Applied, has
		r.tell(l.partition.Path(), "provisioned")
	}
	return err
}
