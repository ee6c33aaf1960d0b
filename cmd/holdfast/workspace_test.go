package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/state"
)

// withWorkspace has a server with the workspace prod/net.
func withWorkspace(t *testing.T) *shell {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	s.must("workspace", "create", "prod/net", "--version", "~> 1.12", "--pool", "eu")
	return s
}

func TestWorkspaceIsMadeAndChanged(t *testing.T) {
	s := withWorkspace(t)
	has(t, s.must("workspace", "list", "--wide"), "prod/net opentofu ~> 1.12 eu never 0 none yet TIME")
	s.refuse(exitFailed, "409 workspace_exists", "workspace", "create", "prod/net", "--approvals", "1")
	s.refuse(exitUsage, "nothing is to be set", "workspace", "set", "prod/net")
	s.refuse(exitUsage, "settings are a workspace's", "workspace", "set", "--all", "--approvals", "1")
	s.must("workspace", "set", "prod/net", "--approvals", "2", "--plan-ttl", "90m", "--protect", "--pool", "", "--output",
		"a,b", "--approvals-for", "critical=3", "--approvers-for", "critical=token.a", "--approvers-for",
		"critical=token.b/x=y", "--approvers-for", "cost=")
	has(t, s.must("workspace", "show", "prod/net", "--wide"), "tool opentofu ~> 1.12", "outputs a, b", "approvals 2",
		"a plan is good for 1h30m0s", "approvals for critical: 3", "approvers for critical: token.a or token.b/x=y",
		"protected yes", "revision 2")
	s.refuse(exitFailed, "approvers_for has", "workspace", "set", "prod/net", "--approvers-for", "critical")
	s.refuse(exitUsage, "confirm with --yes", "workspace", "delete", "prod/net")
	s.must("workspace", "delete", "prod/net", "--yes")
	s.refuse(exitFailed, "404 workspace_not_found", "workspace", "show", "prod/net")
}

func TestVariablesFromTheCommandLine(t *testing.T) {
	s := withWorkspace(t)
	s.stdin = "geheim\n"
	s.must("workspace", "set", "prod/net", "--var", "region=eu=1", "--var-hcl", `zones=["a"]`, "--env", "AWS_REGION=eu",
		"--secret", "password=-")
	s.must("workspace", "set", "prod/net", "--secret-env", "TOKEN=@"+s.write("token", "auch geheim"))
	s.must("workspace", "set", "--all", "--var", "region=us", "--env", "PROXY=p")
	out := s.must("workspace", "show", "prod/net", "--wide")
	has(t, out, `AWS_REGION environment workspace TIME "eu"`, "TOKEN environment workspace TIME (sensitive)",
		"password terraform workspace TIME (sensitive)",
		`region terraform workspace TIME "eu=1"`, `zones terraform workspace TIME ["a"]`,
		`PROXY environment organization TIME "p"`, `region terraform organization, overridden TIME "us"`)
	var shown struct{ Variables []api.Variable }
	s.json(&shown, "workspace", "show", "prod/net", "--json")
	for _, v := range shown.Variables {
		if v.Sensitive && v.Value != nil || !v.Sensitive && v.Value == nil {
			t.Errorf("shown is %+v", v)
		}
	}
	if strings.Contains(out, "geheim") {
		t.Error("a secret is shown")
	}
	s.refuse(exitUsage, "others can see what is on a command line", "workspace", "set", "prod/net", "--secret",
		"password=open")
	s.refuse(exitUsage, "stdin has the value of one variable only", "workspace", "set", "prod/net", "--secret", "a=-",
		"--secret", "b=-")
	s.refuse(exitUsage, "is no NAME=VALUE", "workspace", "set", "prod/net", "--var", "region")
	s.refuse(exitFailed, "400 variable_refused", "workspace", "set", "prod/net", "--env", "PATH=/tmp")
	s.must("workspace", "unset", "prod/net", "--var", "region", "--env", "TOKEN")
	has(t, s.must("workspace", "show", "prod/net", "--wide"), `region terraform organization TIME "us"`)
	has(t, s.must("workspace", "show", "--all", "--wide"), `region terraform organization TIME "us"`)
}

// folderOf has files of these contents by path.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestConfigIsPushedAndPulled(t *testing.T) {
	s := withWorkspace(t)
	s.refuse(exitFailed, "404 workspace_not_found", "config", "push", "prod/none", folderOf(t, map[string]string{"a": ""}))
	s.refuse(exitFailed, "/does/not/exist: no such file or directory", "config", "push", "prod/net", "/does/not/exist")
	s.refuse(exitFailed, "/dev/null is no folder", "config", "push", "prod/net", "/dev/null")
	s.refuse(exitFailed, "404 snapshot_not_found", "config", "pull", "prod/net", t.TempDir())
	dir := folderOf(t, map[string]string{
		"main.tf": "a = 1\n", "modules/m/x.tf": "b = 1\n", "old.tf": "o = 1\n", "terraform.tfstate": "{}",
		".terraform/x": "x", "notes.md": "n",
		".holdfastignore": "*.md\n", ".terraform.lock.hcl": "# lock\n",
	})
	if err := os.Symlink("main.tf", filepath.Join(dir, "link.tf")); err != nil {
		t.Fatal(err)
	}
	has(t, s.must("config", "push", "prod/net", dir, "--dry-run"), "It would be: Uploaded 6 files, skipped 0.")
	has(t, s.must("config", "push", "prod/net", dir, "-m", "first"),
		"Uploaded 6 files, skipped 0. prod/net has configuration 1 now.")
	has(t, s.must("config", "push", "prod/net", dir), "Uploaded 0 files, skipped 6. prod/net has configuration 1 now.")
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte("a = 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "old.tf")); err != nil {
		t.Fatal(err)
	}
	has(t, s.must("config", "diff", "prod/net", dir), "-a = 1", "+a = 2", "-o = 1")
	has(t, s.must("config", "push", "prod/net", dir),
		"Uploaded 2 files, skipped 3, 1 server-only file. prod/net has configuration 2 now.")
	has(t, s.must("config", "push", "prod/net", dir, "--prune"),
		"Uploaded 0 files, skipped 5. prod/net has configuration 3 now.")
	has(t, s.must("config", "list", "prod/net", "--wide"), "NUMBER ID FILES SIZE PUSHED BY MESSAGE", "3 ", "2 ", "1 ")
	has(t, s.must("config", "diff", "prod/net", "--from", "1", "--to", "2"), "-a = 1", "+a = 2")
	if out := s.must("config", "diff", "prod/net", dir); out != "" {
		t.Errorf("the folder differs: %s", out)
	}

	copied := filepath.Join(t.TempDir(), "new")
	has(t, s.must("config", "pull", "prod/net", copied), "Wrote 5 files, skipped 0: "+copied+
		" has configuration 3 of prod/net.")
	s.refuse(exitUsage, "confirm with --yes", "config", "pull", "prod/net", copied, "--snapshot", "1")
	has(t, s.must("config", "pull", "prod/net", copied, "--snapshot", "1", "--yes"), "Wrote 3 files, skipped 3")
	for path, want := range map[string]string{"main.tf": "a = 1\n", "modules/m/x.tf": "b = 1\n", "old.tf": "o = 1\n"} {
		if got, err := os.ReadFile(filepath.Join(copied, filepath.FromSlash(path))); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}
