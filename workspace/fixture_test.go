package workspace_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
	"github.com/holdfast/holdfast/workspace"
)

// world is a service with all that it stands on.
type world struct {
	*workspace.Service
	t      *testing.T
	ctx    context.Context
	db     *sqldb.DB
	clock  *clock
	runs   *fakeRuns
	events *events
	owner  auth.Principal
}

// clock stands still until a test moves it on.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 123000, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) Sleep(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// events are what the audit log has.
type events struct {
	mu  sync.Mutex
	all []audit.Event
	err error
}

func (e *events) Record(_ context.Context, event audit.Event) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.all = append(e.all, event)
	}
	return e.err
}

func (e *events) actions() (all []audit.Action) {
	for _, one := range e.all {
		all = append(all, one.Action)
	}
	return all
}

type fakeRuns struct {
	mutating string
	paused   string
	needed   map[string]bool
}

// Changed implements workspace.Runs.
func (r *fakeRuns) Changed(context.Context, workspace.Workspace) {}

func (r *fakeRuns) Paused(context.Context, workspace.Workspace) (string, error) { return r.paused, nil }

func (r *fakeRuns) Serves(_ context.Context, _ workspace.Ref, pool string) error {
	if pool == "absent" {
		return fault.New(fault.PoolNotFound, "there is none")
	}
	return nil
}

func (r *fakeRuns) Mutating(context.Context, uuid.UUID, string) (string, error) {
	return r.mutating, nil
}
func (r *fakeRuns) Needed(context.Context, uuid.UUID, string) (map[string]bool, error) {
	return r.needed, nil
}

func newWorld(t *testing.T, limits workspace.Limits) *world {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w := &world{t: t, ctx: t.Context(), db: db, clock: newClock(), runs: &fakeRuns{}, events: &events{},
		owner: auth.Principal{Org: uuid.New(), KeyID: "k", Grant: auth.Grant{Role: auth.Owner}}}
	sealer := seal.New(seal.NewMaster(), sqldb.NewKeys(db))
	w.Service = workspace.NewService(workspace.Deps{
		Store: sqlworkspace.New(db, sealer, w.clock.Now), Gate: audit.NewGate(w.events, w.clock.Now), Audit: w.events,
		Seals: sealer,
		Runs:  w.runs, Limits: limits, Now: w.clock.Now, Log: slog.New(slog.DiscardHandler),
	})
	return w
}

// made makes the workspace "a".
func made(t *testing.T, limits workspace.Limits) *world {
	w := newWorld(t, limits)
	if _, err := w.Create(w.ctx, w.owner, "a", workspace.Defaults()); err != nil {
		t.Fatal(err)
	}
	return w
}

// wantCode fails unless the error has the code; the empty code is no error.
func wantCode(t *testing.T, what string, err error, code fault.Code) {
	t.Helper()
	if code == "" && err != nil || code != "" && !fault.Is(err, code) {
		t.Errorf("%s: %v, want %q", what, err, code)
	}
}

// entry is one of an archive.
type entry struct {
	name, content string
	kind          byte // 0 for a file
	mode          int64
}

func archive(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	out := tar.NewWriter(zipped)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: max(e.mode, 0o600), Size: int64(len(e.content)), Typeflag: e.kind}
		if e.kind == 0 {
			h.Typeflag = tar.TypeReg
		} else if e.kind != tar.TypeReg {
			h.Linkname = "main.tf"
		}
		if err := out.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// push makes a snapshot of an archive.
func (w *world) push(raw []byte) (workspace.Entry, error) {
	return w.PushArchive(w.ctx, w.owner, "a", bytes.NewReader(raw), "", nil)
}

// snapshots is how many the workspace has.
func (w *world) snapshots() int {
	all, _, err := w.Entries(w.ctx, w.owner, "a", 0, 1000)
	if err != nil {
		w.t.Error(err)
	}
	return len(all)
}
