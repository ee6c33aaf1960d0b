package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/enclave"
)

// look is a partition as it is, beside what it is to be.
type look struct {
	partition *enclave.Partition
	inputs    []enclave.Resolved
	record    enclave.Record
	why       []string // it has to be run
	exists    bool

	workspace *api.Workspace
	there     api.SnapshotFiles
	files     []File
	change    *api.WorkspaceChange // nil for none
	variables api.VariablesChange
	push      bool
	open      *api.Run // goes on
	has       map[string]enclave.Output
}

func (l *look) because(format string, args ...any) {
	l.why = append(l.why, fmt.Sprintf(format, args...))
}

// outdated reports whether something is to be brought to the server before a run.
func (l *look) outdated() bool {
	return l.change != nil || l.push || len(l.variables.Set)+len(l.variables.Unset) > 0
}

func (l *look) action() Action {
	switch {
	case len(l.why) == 0:
		return None
	case !l.exists:
		return Create
	case l.open != nil && !l.outdated():
		return Resume
	}
	return Update
}

// look compares what there is with what is to be.
func (r *Reconciler) look(ctx context.Context, p *enclave.Partition) (*look, error) {
	l := &look{partition: p, record: enclave.NewRecord(p, r.Set)}
	inputs, sources, err := r.resolve(ctx, p, false)
	if err != nil {
		return nil, err
	}
	l.inputs, l.record.Sources = inputs, sources
	if r.isDriven(p) {
		return l, r.lookDriven(ctx, l)
	}
	for _, step := range []func(context.Context, *look) error{r.lookWorkspace, r.lookVariables, r.lookFiles, r.lookRuns,
		r.lookOutputs} {
		if err := step(ctx, l); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// resolve puts the outputs of other partitions into inputs. With sensitive, their values too: that is recorded, so
// it is asked for only where they are brought somewhere. The versions are of the states that they come from, if any.
func (r *Reconciler) resolve(ctx context.Context, p *enclave.Partition, sensitive bool) ([]enclave.Resolved,
	map[string]uint64, error) {
	outputs, versions := map[string]map[string]enclave.Output{}, map[string]uint64{}
	for _, need := range p.Needs() {
		has, version, err := r.outputsOf(ctx, r.Tree.Partition(need), sensitive)
		if err != nil {
			return nil, nil, err
		}
		outputs[need], versions[need] = has, version
	}
	inputs, err := p.Resolve(func(path string) map[string]enclave.Output { return outputs[path] })
	if !slices.ContainsFunc(inputs, isSensitive) {
		versions = nil
	}
	return inputs, versions, err
}

func isSensitive(in enclave.Resolved) bool { return in.Sensitive }

// outputsOf are the declared outputs of a partition, and no others.
func (r *Reconciler) outputsOf(ctx context.Context, p *enclave.Partition, sensitive bool) (map[string]enclave.Output,
	uint64, error) {
	var all map[string]enclave.Output
	var version uint64
	if p.Backend == enclave.Managed {
		driver, err := r.driver(p)
		if err != nil {
			return nil, 0, err
		}
		seen, err := driver.Observe(ctx, p.Path())
		if err != nil {
			return nil, 0, err
		}
		all = seen.Outputs
	} else {
		var err error
		if all, version, err = r.Server.Outputs(ctx, p.Path(), sensitive); err != nil {
			return nil, 0, err
		}
	}
	declared := map[string]enclave.Output{}
	for _, name := range p.DeclaredOutputs {
		if out, ok := all[name]; ok {
			declared[name] = out
		}
	}
	return declared, version, nil
}

func (r *Reconciler) driver(p *enclave.Partition) (Driver, error) {
	if p.Backend != enclave.Managed && r.Here != nil {
		return r.Here, nil
	}
	if r.Managed != nil {
		if d := r.Managed(p.Enclave.Cloud); d != nil {
			return d, nil
		}
	}
	return nil, fmt.Errorf("nothing manages partitions in the cloud %s: give it the backend terraform or opentofu",
		p.Enclave.Cloud)
}

// lookWorkspace compares a workspace's settings, and refuses one that is another's.
func (r *Reconciler) lookWorkspace(ctx context.Context, l *look) (err error) {
	name := l.partition.Path()
	if l.workspace, err = r.Server.Workspace(ctx, name); err != nil {
		return err
	}
	tool, outputs := string(l.partition.Runs()), slices.Clone(l.partition.DeclaredOutputs)
	if outputs == nil {
		outputs = []string{}
	}
	if l.workspace == nil {
		l.change = &api.WorkspaceChange{Name: name, Tool: &tool, Outputs: &outputs}
		l.because("there is no such workspace yet")
		return nil
	}
	l.exists = true
	s := l.workspace.Settings
	if s.Tool != tool || !slices.Equal(s.Outputs, outputs) {
		l.change = &api.WorkspaceChange{Tool: &tool, Outputs: &outputs}
		l.because("its settings differ")
	}
	if l.workspace.Snapshot == nil {
		return nil
	}
	before, err := r.recordOf(ctx, name)
	switch {
	case err != nil:
		return err
	case before == nil && !r.Adopt:
		return fmt.Errorf("the workspace %s has a configuration that no reconcile has brought: --adopt takes it over", name)
	case before != nil && before.Set != r.Set && !r.Adopt:
		return fmt.Errorf("the partition %s is of the set %q, and this is %q: --adopt takes it over", name, before.Set, r.Set)
	case before != nil:
		l.variables.Unset = leftover(before.Variables, l.wanted())
	}
	return nil
}

// recordOf is the record in a workspace's newest configuration; nil where there is none.
func (r *Reconciler) recordOf(ctx context.Context, name string) (*enclave.Record, error) {
	text, err := r.Server.File(ctx, name, enclave.RecordPath, enclave.MaxRecord)
	if err != nil || text == nil {
		return nil, err
	}
	record, err := enclave.ParseRecord(text)
	if err == nil && record.Path() != name {
		err = fmt.Errorf("%s of %s is that of %s", enclave.RecordPath, name, record.Path())
	}
	return &record, err
}
