package reconcile

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/enclave"
)

// reach is how many of a workspace's newest runs are looked at.
const reach = 50

// lookRuns says whether the newest configuration was applied, and whether something has changed behind it.
func (r *Reconciler) lookRuns(ctx context.Context, l *look) error {
	if l.workspace == nil {
		return nil
	}
	runs, err := r.Server.Runs(ctx, l.partition.Path(), reach)
	if err != nil {
		return err
	}
	last, drifted := newestThatMutates(runs)
	switch {
	case last == nil:
		l.because("it was never applied")
	case !ended(last.Status):
		l.open = last
		l.because("run %s is %s", last.ID, last.Status)
	case last.Status != succeeded:
		l.because("run %s is %s", last.ID, last.Status)
	case last.Kind == "destroy":
		l.because("it was destroyed by run %s", last.ID)
	case l.workspace.Snapshot != nil && last.Snapshot != l.workspace.Snapshot.ID:
		l.because("configuration %d was not applied", l.workspace.Snapshot.Number)
	case drifted != "":
		l.because("run %s found, or made, changes", drifted)
	case r.All:
		l.because("all are asked for")
	}
	if last != nil && last.Status == succeeded {
		return r.lookTimes(ctx, l, last.CreatedAt)
	}
	return nil
}

// lookTimes says which variables were set after the run that has applied them.
func (r *Reconciler) lookTimes(ctx context.Context, l *look, applied time.Time) error {
	have, err := r.Server.Variables(ctx, l.partition.Path())
	for _, v := range have {
		if v.UpdatedAt.After(applied) {
			l.because("the variable %s was set after the last apply", v.Name)
		}
	}
	return err
}

// newestThatMutates is the newest run of the server's that may have changed something, and a run behind it that has
// found something to change, or was made on somebody's machine.
func newestThatMutates(runs []api.Run) (last *api.Run, drifted string) {
	looked := false
	for i, run := range runs {
		if run.Elsewhere { // it has not applied the configuration that the server has
			drifted, looked = run.ID, true
			continue
		}
		switch run.Kind {
		case "apply", "destroy":
			return &runs[i], drifted
		case "plan", "drift":
			if !looked && run.Status == succeeded && run.Counts != nil {
				looked = true
				if run.Counts.Any || run.Counts.Drift > 0 {
					drifted = run.ID
				}
			}
		}
	}
	return nil, drifted
}

const succeeded = "succeeded"

// ended reports whether nothing follows a status.
func ended(status string) bool {
	return slices.Contains([]string{succeeded, "failed", "discarded", "stale", "cancelled"}, status)
}

// lookOutputs wants the declared outputs, where there is nothing else to do.
func (r *Reconciler) lookOutputs(ctx context.Context, l *look) error {
	has, _, err := r.outputsOf(ctx, l.partition, false)
	if err != nil {
		return err
	}
	l.has = has
	if len(l.why) == 0 {
		if err := missing(l.partition, has); err != nil {
			l.because("%v", err)
		}
	}
	return nil
}

// missing says which declared outputs aren't there.
func missing(p *enclave.Partition, has map[string]enclave.Output) error {
	var all []string
	for _, name := range p.DeclaredOutputs {
		if _, ok := has[name]; !ok {
			all = append(all, name)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return errors.New("these declared outputs are missing: " + strings.Join(all, ", "))
}
