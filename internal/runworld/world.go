// Package runworld is a service of runs for tests, with workspaces and states that are there by
// themselves, and an executor that does what a test says.
package runworld

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/runs/token"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlruns"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
)

// World is a service of runs, and what it stands on.
type World struct {
	*runs.Service
	// Terms and Pool are those of every workspace, Protected says whether they are.
	Terms     runs.Terms
	Pool      string
	Protected bool
	// PlanOnly is why the configuration of each may not be applied.
	PlanOnly string
	// Sensitive are variables of every workspace that nobody is to be shown.
	Sensitive []api.Input
	// Configuration is the text of every workspace's main.tf; empty for one resource.
	Configuration string

	signer *token.Signer
	mu     sync.Mutex
	now    time.Time
	head   runs.Base
	events []audit.Event
}

// Snapshot is every workspace's newest configuration.
const Snapshot = "4d7b6c190b5f05452c5c34627635fc52617d2e6df2a5ee09597209b90faa7ad5"

// New returns a world in which nothing has happened.
func New(t testing.TB) *World {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	denied := memory.New(1 << 20)
	t.Cleanup(func() { _ = denied.Close() })
	w := &World{
		signer: token.NewSigner([token.SecretLength]byte{1}), now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC),
		Terms: runs.Terms{
			Revision: 1, Tool: "opentofu", Version: "1.12.6", AutoApply: "never", MinSandbox: "none", MaxAttempts: 5,
			PlanTTL: 24 * time.Hour,
			Timeout: map[runs.Stage]time.Duration{runs.PlanStage: time.Hour, runs.ApplyStage: time.Hour},
			Grace:   map[runs.Stage]time.Duration{runs.ApplyStage: time.Minute}, MaxLogBytes: 1 << 30,
		},
	}
	w.Service = runs.NewService(runs.Deps{
		Store: sqlruns.New(db), Workspaces: workspaces{w}, States: states{w},
		Seals:  seal.New(seal.NewMaster(), sqldb.NewKeys(db)),
		Tokens: w, Gate: audit.NewGate(denied, w.Now), Audit: w, Deliver: deliver(t, w, sqlworkspace.New(db, nil, w.Now)),
		Now: w.Now, Log: slog.New(slog.DiscardHandler),
	})
	return w
}

// deliver puts what is kept with runs into the audit log, as workspaces do.
func deliver(t testing.TB, w *World, kept *sqlworkspace.Store) func(context.Context, uuid.UUID) {
	return func(ctx context.Context, org uuid.UUID) {
		events, err := kept.Undelivered(ctx, org, 100)
		for _, e := range events {
			if err == nil {
				err = errors.Join(w.Record(ctx, e.Event), kept.Forget(ctx, e))
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// Restart has another server begin, which remembers nothing.
func (w *World) Restart() { w.Service = runs.NewService(w.Deps) }

// Now is the world's time.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Jump has the clock jump, while nobody looks.
func (w *World) Jump(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// Later has time go on, while the service looks at what has come due as often as a server does.
func (w *World) Later(t testing.TB, d time.Duration) {
	t.Helper()
	const step = 5 * time.Second
	for ; d > 0; d -= step {
		w.mu.Lock()
		w.now = w.now.Add(min(d, step))
		w.mu.Unlock()
		if err := w.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Settle is Later, with what each step begins done before the next one. It returns what the run is then.
func (w *World) Settle(t testing.TB, run runs.Run, d time.Duration) runs.Run {
	t.Helper()
	const step = 5 * time.Second
	for ; d > 0; d -= step {
		w.Later(t, step)
		w.Rest()
	}
	run, err := w.Service.Store.Run(t.Context(), run.Ref())
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// Record implements audit.Recorder.
func (w *World) Record(_ context.Context, e audit.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
	return nil
}

// Actions are those in the audit log.
func (w *World) Actions() (all []audit.Action) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		all = append(all, e.Action)
	}
	return all
}

// Notes are those of one action in the audit log.
func (w *World) Notes(action audit.Action) (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e.Action == action {
			all = append(all, e.Note)
		}
	}
	return all
}

// Sign implements runs.Tokens.
func (w *World) Sign(run runs.Run, tool bool) (string, error) {
	return w.signer.Sign(token.Claims{
		Run: run.ID, Org: run.Org, Epoch: run.Epoch, Stage: auth.RunStage(run.Stage), State: run.Workspace,
		Version: run.Base.Version, Tool: tool,
		Expires: run.Executor.Since.Add(24 * time.Hour),
	}), nil
}

// VerifyRun recognises the tokens of runs.
func (w *World) VerifyRun(ctx context.Context, text string) (auth.Principal, error) {
	claims, err := w.signer.Read(text)
	if err != nil {
		return auth.Principal{}, err
	}
	return w.Service.VerifyRun(ctx, claims.Principal())
}

// MoveState makes another version of every state the newest.
func (w *World) MoveState(t testing.TB, org uuid.UUID, workspace string) {
	t.Helper()
	w.mu.Lock()
	w.head.Version++
	head := w.head
	w.mu.Unlock()
	if err := w.StateMoved(t.Context(), org, workspace, head, api.Actor{KeyID: "k2", KeyName: "ann"}); err != nil {
		t.Fatal(err)
	}
}

// workspaces are those of a world: there is one of every name but "absent".
type workspaces struct{ *World }

// Workspace implements runs.Workspaces.
func (w workspaces) Workspace(_ context.Context, _ uuid.UUID, name string) (runs.Workspace, error) {
	if name == "absent" {
		return runs.Workspace{}, fault.New(fault.WorkspaceNotFound, "there is no workspace of this name")
	}
	return runs.Workspace{Terms: w.Terms, Pool: w.Pool, Snapshot: Snapshot, Protected: w.Protected}, nil
}

// Inputs implements runs.Workspaces.
func (w workspaces) Inputs(context.Context, uuid.UUID, string) (runs.Inputs, error) {
	return runs.Inputs{Revision: w.Terms.Revision,
		Variables: append([]api.Input{{Name: "region", Value: "eu-1"}}, w.Sensitive...), Digest: "inputs"}, nil
}

// Files implements runs.Workspaces.
func (w workspaces) Files(_ context.Context, _ uuid.UUID, _, snapshot string) (map[string]string, error) {
	if snapshot != Snapshot {
		return nil, fault.New(fault.SnapshotNotFound, "the workspace has no such configuration")
	}
	return map[string]string{}, nil
}

// PlanOnly implements runs.Workspaces.
func (w workspaces) PlanOnly(context.Context, uuid.UUID, string, string) (string, error) {
	return w.World.PlanOnly, nil
}

// WriteArchive implements runs.Workspaces.
func (w workspaces) WriteArchive(_ context.Context, _ uuid.UUID, _, _ string, to io.Writer) error {
	archive := tar.NewWriter(to)
	text := cmp.Or(w.Configuration, "resource \"terraform_data\" \"one\" {}\n")
	if err := archive.WriteHeader(&tar.Header{Name: "main.tf", Mode: 0o644, Size: int64(len(text))}); err != nil {
		return err
	}
	if _, err := io.WriteString(archive, text); err != nil {
		return err
	}
	return archive.Close()
}

// states are those of a world: all have the same versions.
type states struct{ *World }

// Head implements runs.States.
func (s states) Head(context.Context, uuid.UUID, string) (runs.Base, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head, nil
}

// Fence implements runs.States.
func (states) Fence(context.Context, uuid.UUID, string, string, int64, bool) error { return nil }

// ReleaseFor implements runs.States.
func (states) ReleaseFor(context.Context, uuid.UUID, string, string, string) error { return nil }

// Seen implements runs.States.
func (states) Seen(context.Context, uuid.UUID, string, string, int64) error { return nil }
