package layers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqllayers"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
)

// world is what layers stand on, of which the test says what goes on. Before each call of a port or a change of the
// store, and behind it, the process may be killed.
type world struct {
	t      *testing.T
	store  layers.Store
	outbox *sqlworkspace.Store
	org    uuid.UUID

	mu      sync.Mutex
	now     time.Time
	commits []layers.CommitPaths // the newest last
	tree    fstest.MapFS
	runs    map[string]*run // by key
	order   []*run
	brought []string          // messages
	folders map[string]string // of workspaces
	tooling map[string]layers.Tooling
	onMake  func()
	events  []audit.Event
	share   int
	// standing is where the state is.
	standing layers.StateFact
	// branchless says that the repository has lost the branch.
	branchless bool
	trouble    string // why the repository can't be fetched
	dies       int    // at so many calls; 0 for never
	calls      int
}

type run struct {
	layers.Order
	ID      string
	out     layers.Outcome
	found   []layers.Changed
	planned []layers.Changed
}

var errKilled = errors.New("the process is dead")

func newWorld(t *testing.T) *world {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w := &world{t: t, store: sqllayers.New(db),
		outbox: sqlworkspace.New(db, nil, time.Now), org: uuid.New(), now: at(0), runs: map[string]*run{}, share: 5,
		folders: map[string]string{}, tooling: map[string]layers.Tooling{},
		tree: fstest.MapFS{
			"envs/prod/main.tf": {Data: []byte(`module "m" { source = "../../modules/m" }`)}, "modules/m/main.tf": {},
			"docs/README.md": {},
		}}
	w.push("envs/prod/main.tf")
	return w
}

// service is that of a new process.
func (w *world) service() *layers.Service {
	return layers.NewService(layers.Deps{
		Store: mortal{w.store, w}, Repositories: repositories{w}, Workspaces: workspaces{w}, Runs: runs{w}, Audit: w,
		Deliver: w.deliver,
		Now:     w.Now,
		Log:     slog.New(slog.DiscardHandler),
	})
}

func (w *world) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) Record(_ context.Context, e audit.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
	return nil
}

// deliver puts what is kept with layers into the audit log, as workspaces do.
func (w *world) deliver(ctx context.Context, org uuid.UUID) {
	events, err := w.outbox.Undelivered(ctx, org, 100)
	for _, e := range events {
		if err == nil {
			err = w.outbox.Forget(ctx, e)
			_ = w.Record(ctx, e.Event)
		}
	}
	if err != nil {
		w.t.Error(err)
	}
}

func (w *world) told(action audit.Action) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e.Action == action {
			n++
		}
	}
	return n
}

// alive is an error from the call on at which the process is killed.
func (w *world) alive() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls++; w.dies > 0 && w.calls >= w.dies {
		return errKilled
	}
	return nil
}

// sweepDying sweeps once, by a process that is killed at so many calls, and reports whether it came to that.
func (w *world) sweepDying(at int) (killed bool) {
	w.t.Helper()
	w.mu.Lock()
	w.calls, w.dies = 0, at
	w.mu.Unlock()
	_ = w.service().Sweep(w.t.Context())
	w.mu.Lock()
	defer w.mu.Unlock()
	killed, w.dies = w.calls >= at, 0
	return killed
}

func around[T any](w *world, call func() (T, error)) (T, error) {
	var none T
	if err := w.alive(); err != nil {
		return none, err
	}
	made, err := call()
	if dead := w.alive(); dead != nil {
		return none, dead
	}
	return made, err
}

func (w *world) push(paths ...string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := fmt.Sprintf("%040d", len(w.commits)+1)
	w.commits = append(w.commits, layers.CommitPaths{Commit: layers.Commit{ID: id, At: w.now}, Paths: paths})
	return id
}

type mortal struct {
	layers.Store
	w *world
}

func (m mortal) Update(ctx context.Context, ref layers.Ref, decide layers.Decision) (layers.Layer, error) {
	return around(m.w, func() (layers.Layer, error) { return m.Store.Update(ctx, ref, decide) })
}

type repositories struct{ w *world }

func (r repositories) Head(_ context.Context, org uuid.UUID, repository, branch string) (layers.Commit, string, error) {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	if org != r.w.org || repository != "infra" || branch != "main" {
		return layers.Commit{}, "", fault.New(fault.LayerInvalid, "there is no repository %q", repository)
	}
	if r.w.branchless {
		return layers.Commit{}, "", fault.Wrap(layers.ErrNoBranch, fault.LayerInvalid, "there is no branch main")
	}
	return r.w.commits[len(r.w.commits)-1].Commit, r.w.trouble, nil
}

func (r repositories) Between(_ context.Context, _ uuid.UUID, _, from, to string) ([]layers.CommitPaths, error) {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	at := func(id string) int {
		return slices.IndexFunc(r.w.commits, func(c layers.CommitPaths) bool { return c.ID == id })
	}
	if at(from) < 0 {
		return nil, layers.ErrApart
	}
	all := slices.Clone(r.w.commits[at(from)+1 : at(to)+1])
	slices.Reverse(all)
	return all, nil
}

func (r repositories) Differences(ctx context.Context, org uuid.UUID, repository, from, to string) (all []string,
	err error) {
	between, err := r.Between(ctx, org, repository, from, to)
	for _, c := range between {
		all = append(all, c.Paths...)
	}
	return all, err
}

func (r repositories) Read(_ context.Context, _ uuid.UUID, _, _ string, read func(fs.FS) error) error {
	return read(r.w.tree)
}

func (r repositories) Archive(_ context.Context, _ uuid.UUID, _, commit string, folders, files []string,
	w io.Writer) error {
	_, err := fmt.Fprint(w, commit, folders, files)
	return err
}

type workspaces struct{ w *world }

func (ws workspaces) Make(_ context.Context, _ auth.Principal, name string, t layers.Tooling, folder string) error {
	ws.w.mu.Lock()
	ws.w.folders[name], ws.w.tooling[name] = folder, t
	then := ws.w.onMake
	ws.w.mu.Unlock()
	if then != nil {
		then()
	}
	return nil
}

func (ws workspaces) Tooling(_ context.Context, _ auth.Principal, name string) (layers.Tooling, error) {
	ws.w.mu.Lock()
	defer ws.w.mu.Unlock()
	return ws.w.tooling[name], nil
}

func (ws workspaces) Bring(_ context.Context, _ uuid.UUID, _, message string, write func(io.Writer) error) (string,
	error) {
	return around(ws.w, func() (string, error) {
		ws.w.mu.Lock()
		ws.w.brought = append(ws.w.brought, message)
		ws.w.mu.Unlock()
		return "snapshot", write(io.Discard)
	})
}

type runs struct{ w *world }

func (r runs) Share() int { return r.w.share }

func (r runs) Begin(_ context.Context, o layers.Order) (string, error) {
	return around(r.w, func() (string, error) {
		r.w.mu.Lock()
		defer r.w.mu.Unlock()
		if made := r.w.runs[o.Key]; made != nil {
			return made.ID, nil
		}
		made := &run{Order: o, ID: fmt.Sprint("R", len(r.w.order)+1)}
		made.out.Run = made.ID
		r.w.runs[o.Key], r.w.order = made, append(r.w.order, made)
		return made.ID, nil
	})
}

func (r runs) find(id string) *run {
	for _, one := range r.w.order {
		if one.ID == id {
			return one
		}
	}
	return &run{}
}

func (r runs) Outcome(_ context.Context, _ uuid.UUID, id string) (layers.Outcome, error) {
	return around(r.w, func() (layers.Outcome, error) {
		r.w.mu.Lock()
		defer r.w.mu.Unlock()
		return r.find(id).out, nil
	})
}

func (r runs) Supersede(_ context.Context, _ uuid.UUID, id, why string) error {
	_, err := around(r.w, func() (string, error) {
		r.w.mu.Lock()
		defer r.w.mu.Unlock()
		if one := r.find(id); one.out.Waits {
			one.out.Waits, one.out.End, one.out.Ended, one.out.Reason = false, layers.Stale, r.w.now, why
		}
		return "", nil
	})
	return err
}

func (r runs) Found(_ context.Context, _ uuid.UUID, id string) (layers.CheckResult, error) {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	return layers.CheckResult{Outside: r.find(id).found, Planned: r.find(id).planned}, nil
}

func (r runs) State(context.Context, layers.Ref) (layers.StateFact, error) {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	return r.w.standing, nil
}

// last is the run that was made last.
func (w *world) last() *run {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.order) == 0 {
		w.t.Fatal("no run was made")
	}
	return w.order[len(w.order)-1]
}

// ends has the last run end.
func (w *world) ends(end layers.End, change func(*run)) {
	r := w.last()
	w.mu.Lock()
	defer w.mu.Unlock()
	r.out.End, r.out.Ended = end, w.now
	if end != layers.EndedBad {
		r.out.Planned = w.now
	}
	change(r)
}

func (w *world) principal(role auth.Role) auth.Principal {
	return auth.Principal{Org: w.org, KeyID: "k", KeyName: "ann", Grant: auth.Grant{Role: role}}
}

// add makes the layer "prod".
func (w *world) add(change func(*layers.Settings)) {
	w.t.Helper()
	s := settings(change)
	s.Path = "envs/prod"
	_, err := w.service().Add(w.t.Context(), w.principal(auth.Owner), layers.New{Name: "prod", Settings: s})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) layer() layers.Layer {
	w.t.Helper()
	l, err := w.store.Layer(w.t.Context(), layers.Ref{Org: w.org, Name: "prod"})
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// settle sweeps until there is nothing to do at this time.
func (w *world) settle(s *layers.Service) {
	w.t.Helper()
	for range 10 {
		if err := s.Sweep(w.t.Context()); err != nil && !errors.Is(err, errKilled) {
			w.t.Fatal(err)
		}
	}
}

// drifted is a file that was changed by hand.
func drifted(address, content string) layers.Changed {
	value := func(text string) json.RawMessage {
		raw, _ := json.Marshal(map[string]any{"id": "1", "filename": address, "content": text})
		return raw
	}
	return layers.Changed{Address: address, Type: "local_file", Actions: []string{"update"}, Before: value("a"),
		After: value(content)}
}
