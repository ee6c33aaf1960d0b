package client_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
	"github.com/holdfast/holdfast/workspace"
)

// serveWorkspaces starts a server that keeps workspaces too.
func serveWorkspaces(t *testing.T) *client.Client {
	t.Helper()
	log, store := slog.New(slog.DiscardHandler), memory.New(1<<20)
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	sealer := seal.New(seal.NewMaster(), sqldb.NewKeys(db))
	router, err := handlers.NewRouter(handlers.Deps{
		States: state.NewService(store, state.DefaultPolicies{}, time.Now, log),
		Workspaces: workspace.NewService(workspace.Deps{
			Store: sqlworkspace.New(db, sealer, time.Now), Gate: audit.NewGate(store, time.Now), Audit: store, Seals: sealer,
			Now: time.Now, Log: log,
		}),
		Verifier: oneKey{}, Log: log, Now: time.Now, Version: "test", MaxStateBytes: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	return client.New(client.Options{Address: server.URL, Org: acme, Key: key})
}

// The life of a workspace, call by call.
func TestCallsOfAWorkspace(t *testing.T) {
	c := serveWorkspaces(t)
	ctx := t.Context()
	for _, name := range []string{"prod/net", "a/-/files", "-"} {
		made, err := c.CreateWorkspace(ctx, api.WorkspaceChange{Name: name})
		if err != nil || made.Name != name {
			t.Fatalf("%s: %+v, %v", name, made, err)
		}
		two := 2
		if changed, err := c.ChangeWorkspace(ctx, name, api.WorkspaceChange{Approvals: &two}); err != nil ||
			changed.Settings.Approvals != 2 {
			t.Errorf("%s: %+v, %v", name, changed, err)
		}
		for _, of := range []string{name, ""} {
			if err := c.ChangeVariables(ctx, of,
				api.VariablesChange{Set: []api.VariableValue{{Kind: "terraform", Name: "a", Value: "1"}}}); err != nil {
				t.Errorf("%s: %v", of, err)
			}
			if all, err := c.Variables(ctx, of); err != nil || len(all.Variables) == 0 || *all.Variables[0].Value != "1" {
				t.Errorf("%s: %+v, %v", of, all, err)
			}
		}
		callsOfConfigurations(t, c, name)
		if err := c.DeleteWorkspace(ctx, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := c.Workspace(ctx, name); !client.IsCode(err, "workspace_not_found") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for w, err := range c.Workspaces().All(ctx) {
		t.Errorf("%+v is left, %v", w, err)
	}
}

func callsOfConfigurations(t *testing.T, c *client.Client, name string) {
	t.Helper()
	ctx, content := t.Context(), "a = 1\n"
	raw := sha256.Sum256([]byte(content))
	sum := hex.EncodeToString(raw[:])
	if missing, err := c.MissingContents(ctx, name, []string{sum}); err != nil || len(missing) > 1 {
		t.Errorf("missing %v, %v", missing, err)
	}
	if err := c.PutContent(ctx, name, sum, strings.NewReader(content)); err != nil {
		t.Error(err)
	}
	none := int64(0)
	first, err := c.PushSnapshot(ctx, name,
		api.SnapshotOrder{Files: []api.SnapshotFile{{Path: "d/ü +.tf", SHA256: sum}}, Parent: &none})
	if err != nil || first.Number != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	if _, err := c.PutFile(ctx, name, "-/x", true, strings.NewReader("#!"), &none); !client.IsCode(err, "snapshot_moved") {
		t.Error(err)
	}
	if _, err := c.PutFile(ctx, name, "-/x", true, strings.NewReader("#!"), &first.Number); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]string{"d/ü +.tf": content, "-/x": "#!"} {
		file, err := c.OpenFile(ctx, name, "", path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got, err := io.ReadAll(file)
		if file.Close(); string(got) != want || err != nil || file.Digest == "" {
			t.Errorf("%s: %q of %q, %v", path, got, file.Digest, err)
		}
	}
	if sums, err := c.Checksums(ctx, name, "1"); err != nil || sums.Checksums["d/ü +.tf"] != sum {
		t.Errorf("%+v, %v", sums, err)
	}
	if pulled, err := c.Pull(ctx, name, api.PullOrder{}); err != nil || len(pulled.Files) != 2 {
		t.Errorf("%+v, %v", pulled, err)
	}
	if d, err := c.SnapshotDiff(ctx, name, "", ""); err != nil || len(d.Files) != 1 || d.From != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	for what, open := range map[string]func() (io.ReadCloser, error){
		"archive": func() (io.ReadCloser, error) { return c.OpenArchive(ctx, name, "1") },
		"diff":    func() (io.ReadCloser, error) { return c.OpenSnapshotDiff(ctx, name, "1", "2") },
	} {
		text, err := open()
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if got, err := io.ReadAll(text); err != nil || len(got) == 0 {
			t.Errorf("%s: %q, %v", what, got, err)
		}
		_ = text.Close()
	}
	if removed, err := c.RemoveFile(ctx, name, "-/x", nil); err != nil || removed.ID != first.ID || removed.Number != 3 {
		t.Errorf("%+v, %v", removed, err)
	}
	if _, err := c.PushArchive(ctx, name, strings.NewReader("none"), "m", nil); !client.IsCode(err, "archive_invalid") {
		t.Error(err)
	}
	n := 0
	for s, err := range c.Snapshots(name, 2).All(ctx) {
		if n++; err != nil || s.Number != int64(4-n) {
			t.Errorf("%+v, %v", s, err)
		}
	}
	if found, err := c.Snapshot(ctx, name, first.ID); err != nil || n != 2 || len(found.Files) != 1 {
		t.Errorf("%d listed; %+v, %v", n, found, err)
	}
}
