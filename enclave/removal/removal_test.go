package removal_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/enclave"
	"github.com/holdfast/holdfast/enclave/removal"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/workspace"
)

// world is what a removal works on.
type world struct {
	workspaces []workspace.Workspace
	records    map[state.Name]enclave.Record
	states     map[state.Name]uint64
	runs       []runs.Run // newest first
}

type (
	workspaces struct{ *world }
	states     struct{ *world }
)

func (w workspaces) List(_ context.Context, _ auth.Principal, after string, limit int) (page []workspace.Workspace,
	next string, err error) {
	for _, one := range w.workspaces {
		if string(one.Name) <= after {
			continue
		}
		if len(page) == limit {
			return page, string(page[len(page)-1].Name), nil
		}
		page = append(page, one)
	}
	return page, "", nil
}

func (w workspaces) OpenFile(_ context.Context, _ auth.Principal, name state.Name, _, path string) (workspace.File,
	io.Reader, error) {
	record, ok := w.records[name]
	if !ok || path != enclave.RecordPath {
		return workspace.File{}, nil, fault.New(fault.FileNotFound, "none")
	}
	text, err := record.Text()
	return workspace.File{}, bytes.NewReader(text), err
}

func (w workspaces) Delete(_ context.Context, _ auth.Principal, name state.Name) error {
	w.world.workspaces = slices.DeleteFunc(w.world.workspaces,
		func(one workspace.Workspace) bool { return one.Name == name })
	return nil
}

func (w states) HeadOf(_ context.Context, ref state.Ref) (head state.Head, err error) {
	head.Version.Number, head.Deleted = w.states[ref.Name], false
	return head, nil
}

func (w states) Delete(_ context.Context, _ auth.Principal, name state.Name, _ string) error {
	delete(w.states, name)
	return nil
}

func (w *world) List(_ context.Context, _ auth.Principal, q runs.Query) (page runs.Page, err error) {
	for _, run := range w.runs {
		if run.Workspace == q.Workspace {
			page.Runs = append(page.Runs, run)
		}
	}
	return page, nil
}

func (w *world) Create(_ context.Context, _ auth.Principal, order api.RunOrder, _ string) (runs.Run, error) {
	run := runs.Run{ID: fmt.Sprint("run", len(w.runs)+1), Workspace: order.Workspace, Kind: runs.Kind(order.Kind),
		Status: runs.Pending}
	w.runs = append([]runs.Run{run}, w.runs...)
	return run, nil
}

// finish ends all runs that go on.
func (w *world) finish(status runs.Status) {
	for i, run := range w.runs {
		if !run.Status.Ended() {
			w.runs[i].Status = status
			if status == runs.Succeeded {
				w.states[state.Name(run.Workspace)]++
				w.runs[i].After = w.states[state.Name(run.Workspace)]
			}
		}
	}
}

func newWorld() (*world, *removal.Service, auth.Principal) {
	var nobody *audit.Gate // records nothing
	w := &world{records: map[state.Name]enclave.Record{}, states: map[state.Name]uint64{}}
	add := func(name state.Name, record *enclave.Record) {
		one := workspace.Workspace{Ref: workspace.Ref{Name: name}}
		one.Newest.Number = 1
		w.workspaces = append(w.workspaces, one)
		w.states[name] = 1
		if record != nil {
			w.records[name] = *record
		}
	}
	add("e/api", &enclave.Record{Format: 1, Enclave: "e", Partition: "api", Needs: []string{"e/db"}})
	add("e/db", &enclave.Record{Format: 1, Enclave: "e", Partition: "db"})
	add("e/other", nil)
	add("e2/db", &enclave.Record{Format: 1, Enclave: "e2", Partition: "db"})
	p := auth.Principal{Org: uuid.New(), KeyID: "k", Grant: auth.Grant{Role: auth.Owner}}
	return w, &removal.Service{Runs: w, Workspaces: workspaces{w}, States: states{w}, Gate: nobody}, p
}

func statuses(said api.EnclaveRemoval) map[string]string {
	all := map[string]string{}
	for _, p := range said.Partitions {
		all[p.Partition] = p.Status
	}
	return all
}

func TestPartitionsGoInReverseStepByStep(t *testing.T) {
	w, service, p := newWorld()
	steps := []map[string]string{
		{"api": "destroying", "db": "waiting"},
		{"api": "destroying", "db": "waiting"},
		{"api": "removed", "db": "waiting"},
		{"db": "destroying"},
		{"db": "removed"},
		{},
	}
	for i, want := range steps {
		if i == 2 || i == 4 {
			w.finish(runs.Succeeded)
		}
		said, err := service.Remove(t.Context(), p, "e", false)
		if diff := cmp.Diff(want, statuses(said)); diff != "" || err != nil || said.Done != (i >= 4) {
			t.Fatalf("step %d: done %v, %v\n%s", i, said.Done, err, diff)
		}
	}
	if len(w.workspaces) != 2 || len(w.states) != 2 || len(w.runs) != 2 {
		t.Errorf("%+v", w)
	}
}

func TestFailureStaysUntilItIsToBeTriedAgain(t *testing.T) {
	w, service, p := newWorld()
	for i, want := range []string{"destroying", "failed", "failed"} {
		said, err := service.Remove(t.Context(), p, "e", false)
		if statuses(said)["api"] != want || err != nil {
			t.Fatalf("step %d: %+v %v", i, said, err)
		}
		w.finish(runs.Failed)
	}
	said, err := service.Remove(t.Context(), p, "e", true)
	if statuses(said)["api"] != "destroying" || err != nil || len(w.runs) != 2 {
		t.Errorf("%+v %v", said, err)
	}
}

func TestProtectedPartitionKeepsAll(t *testing.T) {
	w, service, p := newWorld()
	w.workspaces[1].Settings.Protected = true
	if _, err := service.Remove(t.Context(), p, "e", false); !fault.Is(err, fault.DestroyProtected) || len(w.runs) > 0 {
		t.Errorf("%v %v", err, w.runs)
	}
}

func TestOthersMayNotRemove(t *testing.T) {
	w, service, p := newWorld()
	p.Role = auth.Reader
	if _, err := service.Remove(t.Context(), p, "e", false); !fault.Is(err, fault.RightMissing) || len(w.runs) > 0 {
		t.Errorf("%v", err)
	}
}
