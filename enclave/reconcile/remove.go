package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/enclave"
)

// gonePartition is one that is there, and not in the folder.
type gonePartition struct {
	enclave.Record
	protected bool
	driver    Driver // of a managed one
}

// gone lists what a reconcile of this set has made, and the folder no longer has.
func (r *Reconciler) gone(ctx context.Context) ([]gonePartition, error) {
	kept, err := r.kept(ctx)
	return slices.DeleteFunc(kept, func(g gonePartition) bool {
		return r.Tree.Partition(g.Path()) != nil || len(r.Only) > 0 && !slices.Contains(r.Only, g.Enclave)
	}), err
}

// kept lists all that reconciles of this set have made.
func (r *Reconciler) kept(ctx context.Context) (all []gonePartition, err error) {
	workspaces, err := r.Server.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range workspaces {
		if w.Snapshot == nil || strings.Count(w.Name, "/") != 1 {
			continue
		}
		text, err := r.Server.File(ctx, w.Name, enclave.RecordPath, enclave.MaxRecord)
		if err != nil {
			return nil, err
		}
		record, wrong := enclave.ParseRecord(text) // somebody else's file of that name is none of ours
		if wrong == nil && record.Path() == w.Name && record.Set == r.Set {
			all = append(all, gonePartition{record, w.Settings.Protected, nil})
		}
	}
	for _, driver := range r.drivers() {
		records, err := driver.Records(ctx)
		if err != nil {
			return nil, err
		}
		for _, record := range records {
			if record.Set == r.Set {
				all = append(all, gonePartition{record, false, driver})
			}
		}
	}
	return all, nil
}

// drivers are all that may have made something.
func (r *Reconciler) drivers() (all []Driver) {
	for _, cloud := range enclave.Clouds() {
		if r.Managed != nil && r.Managed(cloud) != nil {
			all = append(all, r.Managed(cloud))
		}
	}
	if r.Here != nil {
		all = append(all, r.Here)
	}
	return all
}

// ProtectedError says which partitions must not be taken away.
type ProtectedError struct{ Paths []string }

func (e *ProtectedError) Error() string {
	return "these are protected from being destroyed, so nothing was begun: " + strings.Join(e.Paths, ", ")
}

// mayRemove refuses the whole where something that is to go is protected.
func (r *Reconciler) mayRemove(gone []gonePartition) error {
	if !r.Prune {
		return nil
	}
	var paths []string
	for _, g := range gone {
		if g.protected {
			paths = append(paths, g.Path())
		}
	}
	if len(paths) > 0 {
		return &ProtectedError{paths}
	}
	return nil
}

func (r *Reconciler) plannedRemoval(g gonePartition) Result {
	result := Result{Path: g.Path(), Action: Leave, Why: []string{"it is not in the folder: --prune takes it away"}}
	if r.Prune {
		result.Action, result.Why = Remove, []string{"it is not in the folder"}
	}
	if g.protected {
		result.Why = append(result.Why, "it is protected from being destroyed")
	}
	return result
}

// left is the result of what is not in the folder and stays.
func (r *Reconciler) left(g gonePartition, good bool) Result {
	result := r.plannedRemoval(g)
	if r.Prune && !good {
		result.Outcome, result.Reason = Skipped, "others are not as they should be"
	}
	return result
}

// removals are the nodes of what is to go: each after those that import from it.
func (r *Reconciler) removals(gone []gonePartition) (nodes []node) {
	for _, g := range gone {
		if slices.ContainsFunc(nodes, func(n node) bool { return n.path == g.Path() }) {
			continue
		}
		both := slices.DeleteFunc(slices.Clone(gone), func(other gonePartition) bool { return other.Path() != g.Path() })
		n := node{path: g.Path(), do: func(ctx context.Context) Result { return r.removeAll(ctx, both) }}
		for _, other := range gone {
			if slices.Contains(other.Needs, g.Path()) {
				n.needs = append(n.needs, other.Path())
			}
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// Destroy takes away everything of the enclaves, in the reverse of the order in which it was made.
func (r *Reconciler) Destroy(ctx context.Context) ([]Result, error) {
	kept, err := r.toDestroy(ctx)
	if err != nil {
		return nil, err
	}
	r.Prune = true
	if err := r.mayRemove(kept); err != nil {
		return nil, err
	}
	all := r.each(ctx, r.removals(kept))
	return all, badOrNil(all)
}

// PlanDestroy says what a Destroy would take away.
func (r *Reconciler) PlanDestroy(ctx context.Context) ([]Result, error) {
	kept, err := r.toDestroy(ctx)
	var all []Result
	for _, g := range kept {
		result := Result{Path: g.Path(), Action: Remove, Needs: g.Needs}
		if g.protected {
			result.Why = []string{"it is protected from being destroyed"}
		}
		all = append(all, result)
	}
	return all, err
}

// InUseError says that partitions of other enclaves import from what is to go.
type InUseError struct{ Path, By string }

func (e *InUseError) Error() string {
	return fmt.Sprintf("%s imports from %s, so nothing was begun: take that away too, or first", e.By, e.Path)
}

func (r *Reconciler) toDestroy(ctx context.Context) ([]gonePartition, error) {
	kept, err := r.kept(ctx)
	if err != nil {
		return nil, err
	}
	isOut := func(g gonePartition) bool { return len(r.Only) > 0 && !slices.Contains(r.Only, g.Enclave) }
	for _, g := range kept {
		for _, need := range g.Needs {
			source := slices.IndexFunc(kept, func(other gonePartition) bool { return other.Path() == need })
			if isOut(g) && source >= 0 && !isOut(kept[source]) {
				return nil, &InUseError{need, g.Path()}
			}
		}
	}
	return slices.DeleteFunc(kept, isOut), nil
}

// removeAll takes away what a partition has: one that changed its backend has a workspace, and a driver's record.
func (r *Reconciler) removeAll(ctx context.Context, of []gonePartition) (result Result) {
	for _, g := range of {
		if result = r.remove(ctx, g); result.Outcome != Removed {
			break
		}
	}
	return result
}

// remove takes one partition away.
func (r *Reconciler) remove(ctx context.Context, g gonePartition) Result {
	result := Result{Path: g.Path(), Action: Remove, Needs: g.Needs}
	var err error
	if g.driver != nil {
		err = g.driver.Teardown(ctx, g.Path())
	} else {
		err = r.teardown(ctx, g.Path(), &result)
	}
	switch {
	case err != nil:
		result.Outcome, result.Reason = Failed, err.Error()
		r.tell(g.Path(), "failed: %v", err)
	case result.Outcome == "":
		result.Outcome = Removed
		r.tell(g.Path(), "removed")
	}
	return result
}

// teardown destroys what there is, then deletes the state, then the workspace: who is stopped in between finds
// the workspace, and goes on.
func (r *Reconciler) teardown(ctx context.Context, path string, result *Result) error {
	_, version, err := r.Server.Outputs(ctx, path, false)
	if err != nil {
		return err
	}
	if version > 0 {
		run, err := r.destroyed(ctx, path, version, result)
		if err != nil || result.Outcome != "" {
			return err
		}
		if err := r.Server.DeleteState(ctx, path); err != nil {
			return fmt.Errorf("run %s has destroyed everything, but the state can't be deleted: %w", run, err)
		}
	}
	return r.Server.RemoveWorkspace(ctx, path)
}

// destroyed has a run that has destroyed everything: one that was there before, or a new one.
func (r *Reconciler) destroyed(ctx context.Context, path string, version uint64, result *Result) (string, error) {
	runs, err := r.Server.Runs(ctx, path, reach)
	if err != nil {
		return "", err
	}
	last, _ := newestThatMutates(runs)
	if last != nil && !ended(last.Status) && last.Kind != "destroy" {
		if last, err = r.endOther(ctx, path, last); err != nil {
			return "", err
		}
	}
	isDone := last != nil && last.Kind == "destroy" && last.Status == succeeded && isOf(last, version)
	if isDone {
		return last.ID, nil
	}
	if last == nil || ended(last.Status) {
		made, err := r.order(ctx, path, "destroy")
		if err != nil {
			return "", err
		}
		last = &made
		r.tell(path, "run %s: destroying", last.ID)
	}
	result.Run = last.ID
	end, err := r.Server.Await(ctx, last.ID, r.Wait, r.teller(path))
	switch {
	case err != nil:
		return "", err
	case end.Status == awaiting:
		result.Outcome, result.Reason = Waiting, "holdfast run approve "+end.ID
	case end.Status != succeeded:
		return "", fmt.Errorf("run %s is %s: %s", end.ID, end.Status, end.Reason)
	}
	return end.ID, nil
}

// isOf reports whether nothing has written the state after a run.
func isOf(run *api.Run, version uint64) bool {
	return run.After == version || run.After == 0 && run.Before == version
}

// endOther ends an apply that goes on of what is to be taken away.
func (r *Reconciler) endOther(ctx context.Context, path string, run *api.Run) (*api.Run, error) {
	if run.Status == awaiting && run.Reconcile != "" {
		return nil, r.Server.Discard(ctx, run.ID, "a reconcile takes the partition away")
	}
	r.tell(path, "waiting for the end of run %s", run.ID)
	end, err := r.Server.Await(ctx, run.ID, r.Wait, r.teller(path))
	if err == nil && !ended(end.Status) {
		err = errors.New("run " + run.ID + " is in the way: it " + end.Reason)
	}
	return &end, err
}
