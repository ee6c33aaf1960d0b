package reconcile_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/enclave"
	"github.com/holdfast/holdfast/enclave/managed"
	"github.com/holdfast/holdfast/enclave/reconcile"
)

// world is a server in memory. A run's tool is a function of the configuration and the variables.
type world struct {
	mu         sync.Mutex
	now        time.Time
	workspaces map[string]*api.Workspace
	variables  map[string][]api.Variable
	values     map[string]map[string]string // of variables, sensitive ones too
	snapshots  map[string][]reconcile.File
	runs       []*api.Run // oldest first
	states     map[string]map[string]enclave.Output
	versions   map[string]uint64
	journal    []string // what runs have done, in order
	failing    map[string]bool
	approvals  bool

	left int // calls until the caller dies; below zero for never
}

// errKilled is what every call answers once the caller is dead.
var errKilled = errors.New("killed")

func newWorld() *world {
	return &world{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), workspaces: map[string]*api.Workspace{},
		variables: map[string][]api.Variable{}, values: map[string]map[string]string{},
		snapshots: map[string][]reconcile.File{}, states: map[string]map[string]enclave.Output{},
		versions: map[string]uint64{}, failing: map[string]bool{}, left: -1}
}

// call begins a call; after is called when it has had its effect.
func (w *world) call() (after func() error, err error) {
	w.mu.Lock()
	w.now = w.now.Add(time.Second)
	if w.left == 0 {
		return w.leave(nil), w.leave(errKilled)()
	}
	if w.left > 0 {
		w.left--
	}
	if w.left == 0 { // the effect is there, and nobody hears of it
		return w.leave(errKilled), nil
	}
	return w.leave(nil), nil
}

func (w *world) leave(err error) func() error {
	return sync.OnceValue(func() error { w.mu.Unlock(); return err })
}

func (w *world) Workspaces(context.Context) (all []api.Workspace, err error) {
	after, err := w.call()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(w.workspaces)) {
		all = append(all, *w.workspaces[name])
	}
	return all, after()
}

func (w *world) Workspace(_ context.Context, name string) (*api.Workspace, error) {
	after, err := w.call()
	if err != nil {
		return nil, err
	}
	if known := w.workspaces[name]; known != nil {
		same := *known
		return &same, after()
	}
	return nil, after()
}

func (w *world) Configure(_ context.Context, name string, _ bool, change api.WorkspaceChange) error {
	after, err := w.call()
	if err != nil {
		return err
	}
	if w.workspaces[name] == nil {
		w.workspaces[name] = &api.Workspace{Name: name}
	}
	w.workspaces[name].Settings.Tool, w.workspaces[name].Settings.Outputs = *change.Tool, *change.Outputs
	return after()
}

func (w *world) RemoveWorkspace(_ context.Context, name string) error {
	after, err := w.call()
	if err != nil {
		return err
	}
	delete(w.workspaces, name)
	delete(w.variables, name)
	delete(w.values, name)
	delete(w.snapshots, name)
	return after()
}

func (w *world) Variables(_ context.Context, name string) ([]api.Variable, error) {
	after, err := w.call()
	if err != nil {
		return nil, err
	}
	return slices.Clone(w.variables[name]), after()
}

func (w *world) ChangeVariables(_ context.Context, name string, change api.VariablesChange) error {
	after, err := w.call()
	if err != nil {
		return err
	}
	w.set(name, change)
	return after()
}

func (w *world) set(name string, change api.VariablesChange) {
	if w.values[name] == nil {
		w.values[name] = map[string]string{}
	}
	drop := func(kind, of string) {
		w.variables[name] = slices.DeleteFunc(w.variables[name],
			func(v api.Variable) bool { return v.Kind == kind && v.Name == of })
		delete(w.values[name], of)
	}
	for _, v := range change.Set {
		drop(v.Kind, v.Name)
		shown := &v.Value
		if v.Sensitive {
			shown = nil
		}
		w.variables[name] = append(w.variables[name], api.Variable{Kind: v.Kind, Name: v.Name, Sensitive: v.Sensitive,
			Value: shown, Scope: "workspace", UpdatedAt: w.now})
		w.values[name][v.Name] = v.Value
	}
	for _, k := range change.Unset {
		drop(k.Kind, k.Name)
	}
}

func (w *world) Snapshot(_ context.Context, name string) (files api.SnapshotFiles, err error) {
	after, err := w.call()
	if err != nil {
		return files, err
	}
	if known := w.workspaces[name]; known != nil && known.Snapshot != nil {
		files.Snapshot = *known.Snapshot
		for _, f := range w.snapshots[name] {
			files.Files = append(files.Files, f.SnapshotFile)
		}
	}
	return files, after()
}

func (w *world) Push(_ context.Context, name string, files []reconcile.File, parent int64,
	_ string) (api.Snapshot, error) {
	after, err := w.call()
	if err != nil {
		return api.Snapshot{}, err
	}
	was := w.workspaces[name].Snapshot
	if was == nil {
		was = &api.Snapshot{}
	}
	if was.Number != parent {
		return api.Snapshot{}, errors.Join(after(), errors.New("another snapshot is the newest"))
	}
	sum, kept := sha256.New(), []reconcile.File{}
	for _, f := range files {
		if f.Source != "" {
			if f.Text, err = os.ReadFile(f.Source); err != nil {
				return api.Snapshot{}, errors.Join(after(), err)
			}
		}
		fmt.Fprintln(sum, f.Path, f.SHA256)
		kept = append(kept, f)
	}
	made := api.Snapshot{Number: parent + 1, ID: hex.EncodeToString(sum.Sum(nil))}
	w.workspaces[name].Snapshot, w.snapshots[name] = &made, kept
	return made, after()
}

func (w *world) File(_ context.Context, name, path string, _ int64) ([]byte, error) {
	after, err := w.call()
	if err != nil {
		return nil, err
	}
	for _, f := range w.snapshots[name] {
		if f.Path == path {
			return f.Text, after()
		}
	}
	return nil, after()
}

func (w *world) Runs(_ context.Context, name string, limit int) (all []api.Run, err error) {
	after, err := w.call()
	if err != nil {
		return nil, err
	}
	for _, run := range slices.Backward(w.runs) {
		if run.Workspace == name && len(all) < limit {
			all = append(all, *run)
		}
	}
	return all, after()
}

func (w *world) Order(_ context.Context, order api.RunOrder, _ string) (api.Run, error) {
	after, err := w.call()
	if err != nil {
		return api.Run{}, err
	}
	for _, run := range w.runs {
		if run.Workspace == order.Workspace && run.Status == "pending" {
			return api.Run{}, errors.Join(after(), errors.New("two runs at once"))
		}
	}
	run := &api.Run{ID: fmt.Sprint("run", len(w.runs)+1), Workspace: order.Workspace, Kind: order.Kind, Status: "pending",
		Snapshot: w.workspaces[order.Workspace].Snapshot.ID, Reconcile: order.Reconcile, CreatedAt: w.now}
	w.runs = append(w.runs, run)
	return *run, after()
}

func (w *world) Discard(_ context.Context, id, _ string) error {
	after, err := w.call()
	if err != nil {
		return err
	}
	for _, run := range w.runs {
		if run.ID == id {
			run.Status = "discarded"
		}
	}
	return after()
}

// Await runs what was ordered: it would go on without whoever waits for it.
func (w *world) Await(_ context.Context, id string, _ bool, tell func([]byte)) (api.Run, error) {
	after, err := w.call()
	if err != nil {
		return api.Run{}, err
	}
	for _, run := range w.runs {
		if run.ID == id {
			w.execute(run)
			tell([]byte("ran"))
			return *run, after()
		}
	}
	return api.Run{}, errors.Join(after(), errors.New("no such run"))
}

// execute is the tool: each variable OUT of a partition's main.tf, "NAME VARIABLE" line by line, is an output.
func (w *world) execute(run *api.Run) {
	name := run.Workspace
	if run.Status != "pending" && run.Status != "awaiting_approval" {
		return
	}
	if w.approvals && run.Status == "pending" {
		run.Status = "awaiting_approval"
		return
	}
	run.Before = w.versions[name]
	w.journal = append(w.journal, run.Kind+" "+name)
	if w.failing[name] {
		run.Status, run.Reason = "failed", "it is broken"
		return
	}
	w.versions[name]++
	run.Status, run.After = "succeeded", w.versions[name]
	w.states[name] = map[string]enclave.Output{}
	if run.Kind == "destroy" {
		return
	}
	for _, f := range w.snapshots[name] {
		if f.Path != "main.tf" {
			continue
		}
		for line := range strings.Lines(string(f.Text)) {
			output, from, _ := strings.Cut(strings.TrimSpace(line), " ")
			value, _ := json.Marshal(w.values[name][from])
			w.states[name][output] = enclave.Output{Value: value, Sensitive: output == "password"}
		}
	}
}

func (w *world) Outputs(_ context.Context, name string, sensitive bool) (map[string]enclave.Output, uint64, error) {
	after, err := w.call()
	if err != nil {
		return nil, 0, err
	}
	if w.states[name] == nil {
		return nil, 0, after()
	}
	all := maps.Clone(w.states[name])
	for key, out := range all {
		if out.Sensitive && !sensitive {
			all[key] = enclave.Output{Value: json.RawMessage(`"(sensitive)"`), Sensitive: true}
		}
	}
	return all, w.versions[name], after()
}

func (w *world) DeleteState(_ context.Context, name string) error {
	after, err := w.call()
	if err != nil {
		return err
	}
	if len(w.states[name]) > 0 {
		return errors.Join(after(), fmt.Errorf("the state of %s is deleted, and not empty", name))
	}
	delete(w.states, name)
	return after()
}

// shown is what there is, for comparison.
func (w *world) shown() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(w.workspaces)) {
		fmt.Fprintf(&b, "workspace %s %v\n", name, w.workspaces[name].Settings.Outputs)
		for _, key := range slices.Sorted(maps.Keys(w.values[name])) {
			fmt.Fprintf(&b, "  %s = %s\n", key, w.values[name][key])
		}
		for _, f := range w.snapshots[name] {
			fmt.Fprintf(&b, "  %s %s\n", f.Path, f.SHA256)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.states)) {
		for _, key := range slices.Sorted(maps.Keys(w.states[name])) {
			fmt.Fprintf(&b, "state %s %s = %s\n", name, key, w.states[name][key].Value)
		}
	}
	return b.String()
}

// tree makes a folder of files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, text := range files {
		full := filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// product is an enclave with a database, an interface that uses it, one that uses that, and one alone.
func product() map[string]string {
	return map[string]string{
		"a/config.yml":    "id: a\n",
		"a/db/config.yml": "id: db\nproduces: tcp\nbackend: opentofu\ndeclared_outputs: [host, password]\ninputs: {name: app}\nexports: [{name: db}]\n",
		"a/db/main.tf":    "host name\npassword name\n",
		"a/api/config.yml": "id: api\nproduces: http\nbackend: opentofu\ndeclared_outputs: [url]\n" +
			"imports: [{alias: db, from: db}]\ninputs: {u: 'x://{{ db.host }}', p: '{{ db.password }}'}\nexports: [{name: api}]\n",
		"a/api/main.tf": "url u\nsecond p\n",
		"a/web/config.yml": "id: web\nproduces: http\nbackend: terraform\nimports: [{alias: api, from: api}]\n" +
			"inputs: {u: '{{ api.url }}/'}\n",
		"a/web/main.tf":      "all u\n",
		"a/alone/config.yml": "id: alone\nproduces: queue\nbackend: terraform\n",
		"a/alone/main.tf":    "\n",
		"a/q/config.yml":     "id: q\nproduces: queue\ndeclared_outputs: [queue_url]\n",
	}
}

func reconciler(t *testing.T, w *world, dir, here string, o reconcile.Options) *reconcile.Reconciler {
	t.Helper()
	read, err := enclave.Load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if o.Set == "" {
		o.Set = "default"
	}
	o.ID, o.Approve = "11111111-2222-4333-8444-555555555555", true
	return &reconcile.Reconciler{Tree: read, Dir: dir, Server: w, Options: o,
		Managed: func(c enclave.Cloud) reconcile.Driver {
			if c == enclave.Local {
				return managed.Local{Root: here}
			}
			return nil
		}}
}
