package repos_test

import (
	"io"
	"log/slog"
	"testing"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/repos/gitmirror"
	"github.com/holdfast/holdfast/repos/hook"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
	"github.com/holdfast/holdfast/workspace"
)

// TestInto: a workspace gets its configuration from a commit, the same one for the same commit, and nothing of a commit
// that is refused.
func TestInto(t *testing.T) {
	w := newWorld(t)
	git := w.git.Repo(t, "infra")
	git.Write("envs/prod/main.tf", "module \"a\" { source = \"../../modules/a\" }\n")
	git.Write("modules/a/main.tf", "# a\n")
	git.Link("envs/prod/shared.tf", "../../modules/a/main.tf")
	good := git.Commit("Begin")
	git.Link("envs/prod/z.tf", "../../../../etc/passwd")
	bad := git.Commit("Attack")
	w.create("infra", w.git.URL("infra"), hook.Plain)
	workspaces := newWorkspaces(t, w)
	must(t, errOf(workspaces.Create(t.Context(), w.caller, "prod", workspace.Defaults())))
	a := gitmirror.Archiving{Folders: []string{"envs/prod", "modules"}}
	push := func(commit string) (entry workspace.Entry, err error) {
		err = w.Into(t.Context(), w.caller.Org, "infra", commit, a, func(archive io.Reader) (err error) {
			entry, err = workspaces.PushArchive(t.Context(), w.caller, "prod", archive, "commit "+commit, nil)
			return err
		})
		return entry, err
	}
	first, err := push(good)
	must(t, err)
	again, err := push(good)
	must(t, err)
	if first.Files != 3 || again.Number != first.Number || again.ID != first.ID {
		t.Errorf("the first is %+v, then it is %+v", first, again)
	}
	_, err = push(bad)
	wantCode(t, err, fault.ArchiveEntry)
	now, err := workspaces.Get(t.Context(), w.caller, "prod")
	must(t, err)
	if now.Newest.ID != first.ID {
		t.Errorf("the newest configuration is %+v", now.Newest)
	}
	_, content, err := workspaces.OpenFile(t.Context(), w.caller, "prod", "", "envs/prod/shared.tf")
	must(t, err)
	if text, err := io.ReadAll(content); err != nil || string(text) != "# a\n" {
		t.Errorf("the link is %q, %v", text, err)
	}
}

func newWorkspaces(t *testing.T, w *world) *workspace.Service {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	var record state.Store = memory.New(64 << 20)
	t.Cleanup(func() { _ = record.Close() })
	sealer := seal.New(seal.NewMaster(), sqldb.NewKeys(db))
	return workspace.NewService(workspace.Deps{Store: sqlworkspace.New(db, sealer, w.now),
		Gate: audit.NewGate(record, w.now), Audit: record, Seals: sealer, Now: w.now, Log: slog.New(slog.DiscardHandler)})
}
