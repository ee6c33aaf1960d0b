package reconcile

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/enclave"
)

// Status is where a partition stands.
type Status struct {
	Path   string `json:"partition"`
	Exists bool   `json:"exists"` // its outputs can be read
	// Status is current, changed, failed, running, waiting, removed, or unknown while it can't be said.
	Status  string   `json:"status"`
	Why     []string `json:"why,omitempty"`
	Run     string   `json:"run,omitempty"` // the last that has, or may have, changed it
	Outputs []string `json:"outputs"`       // the declared ones that are there
}

// Status says where each partition stands.
func (r *Reconciler) Status(ctx context.Context) ([]Status, error) {
	order, gone, err := r.everything(ctx)
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, p := range order {
		s, err := r.statusOf(ctx, p)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	for _, g := range gone {
		all = append(all, Status{Path: g.Path(), Exists: true, Status: "removed", Why: []string{"it is not in the folder"},
			Outputs: []string{}})
	}
	return all, nil
}

func (r *Reconciler) statusOf(ctx context.Context, p *enclave.Partition) (Status, error) {
	s := Status{Path: p.Path(), Outputs: []string{}}
	has, version, err := r.outputsOf(ctx, p, false)
	if err == nil {
		s.Exists = version > 0 || p.Backend == enclave.Managed && len(has) > 0
		s.Outputs = slices.AppendSeq(s.Outputs, maps.Keys(has))
		slices.Sort(s.Outputs)
	}
	l, err := r.look(ctx, p)
	if missing, ok := errors.AsType[*enclave.MissingError](err); ok {
		s.Status, s.Why = "unknown", []string{missing.Error()}
		return s, nil
	}
	if err != nil {
		s.Status, s.Why = "unknown", []string{err.Error()}
		return s, nil
	}
	if r.isDriven(p) {
		s.Exists = l.exists
	}
	s.Why, s.Status = l.why, "changed"
	if len(l.why) == 0 {
		s.Status = "current"
	}
	return s, r.statusOfRuns(ctx, l, &s)
}

// statusOfRuns says how the last run has gone.
func (r *Reconciler) statusOfRuns(ctx context.Context, l *look, s *Status) error {
	if l.workspace == nil {
		return nil
	}
	runs, err := r.Server.Runs(ctx, s.Path, reach)
	last, _ := newestThatMutates(runs)
	if err != nil || last == nil {
		return err
	}
	s.Run = last.ID
	switch {
	case last.Status == awaiting:
		s.Status = "waiting"
	case !ended(last.Status):
		s.Status = "running"
	case last.Status != succeeded:
		s.Status = "failed"
	}
	return nil
}

// Difference is how a partition differs from what the server has of it.
type Difference struct {
	Files []FileDifference
	Other []string // settings and variables
}

// FileDifference is a file that differs; nil stands for one that isn't there.
type FileDifference struct {
	Path          string
	Before, After []byte
}

// maxShown is the largest file that is shown line by line.
const maxShown = 4 << 20

// Difference compares a partition's files, settings and variables.
func (r *Reconciler) Difference(ctx context.Context, p *enclave.Partition) (d Difference, err error) {
	l, err := r.look(ctx, p)
	if missing, ok := errors.AsType[*enclave.MissingError](err); ok {
		return Difference{Other: []string{missing.Error()}}, nil
	}
	if err != nil {
		return d, err
	}
	if l.change != nil && l.workspace != nil {
		d.Other = append(d.Other, "the workspace's settings differ")
	}
	for _, v := range l.variables.Set {
		d.Other = append(d.Other, shownVariable(v))
	}
	for _, v := range l.variables.Unset {
		d.Other = append(d.Other, v.Kind+" "+v.Name+" is not set any more")
	}
	there := map[string]api.SnapshotFile{}
	for _, f := range l.there.Files {
		there[f.Path] = f
	}
	for _, f := range l.files {
		was, known := there[f.Path]
		delete(there, f.Path)
		if known && was.SHA256 == f.SHA256 && was.Executable == f.Executable {
			continue
		}
		one := FileDifference{Path: f.Path, After: f.Text}
		if f.Source != "" && f.Size <= maxShown {
			if one.After, err = os.ReadFile(f.Source); err != nil {
				return d, err
			}
		}
		if known {
			if one.Before, err = r.Server.File(ctx, p.Path(), f.Path, maxShown); err != nil {
				return d, err
			}
		}
		d.Files = append(d.Files, one)
	}
	return d, r.onlyThere(ctx, p.Path(), there, &d)
}

func (r *Reconciler) onlyThere(ctx context.Context, name string, there map[string]api.SnapshotFile,
	d *Difference) error {
	for _, path := range slices.Sorted(maps.Keys(there)) {
		before, err := r.Server.File(ctx, name, path, maxShown)
		if err != nil {
			return err
		}
		d.Files = append(d.Files, FileDifference{Path: path, Before: before})
	}
	return nil
}

func shownVariable(v api.VariableValue) string {
	if v.Sensitive {
		return v.Kind + " " + v.Name + " = (sensitive)"
	}
	return v.Kind + " " + v.Name + " = " + v.Value
}
