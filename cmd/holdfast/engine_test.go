package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/repos/gitmirror"
	"github.com/holdfast/holdfast/runs/changes"
	"github.com/holdfast/holdfast/runs/planfile"
)

// writeConfiguration puts a configuration's files into a folder.
func writeConfiguration(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// What checks the plan files of the clients checks those of the engine: the state, the configuration, the tool
// and what is changed are found in them, and agree with the JSON that people are shown.
func TestEnginesPlanFileIsChecked(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"main.tf": "terraform {\n  backend \"http\" {}\n}\nmodule \"m\" {\n  source = \"./m\"\n}\n" +
		"resource \"terraform_data\" \"a\" {\n  count = 2\n}\noutput \"n\" { value = 1 }\n",
		"m/main.tf": "resource \"terraform_data\" \"b\" {}\n"}
	writeConfiguration(t, dir, files)
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	t.Setenv("TF_HTTP_ADDRESS", server.URL)
	e, err := engine.New(engine.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Plan(context.Background(), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := engine.Save(p, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	facts, err := planfile.Inspect(bytes.NewReader(file), int64(len(file)), planfile.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	shown, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := changes.Parse(bytes.NewReader(shown), changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := planfile.Want{Absent: true, Tool: "engine", ToolVersion: "1.2.3", LockFile: planfile.NoLockFile(),
		Outline: &parsed.Outline, Config: map[string]planfile.Digest{}}
	for name, text := range files {
		want.Config[name] = sha256.Sum256([]byte(text))
	}
	if err := facts.Match(want); err != nil {
		t.Error(err)
	}
	want.Config["more.tf"] = sha256.Sum256([]byte("locals {}"))
	if facts.Match(want) == nil {
		t.Error("a plan that leaves out a file of the configuration is taken for one of it")
	}
	delete(want.Config, "more.tf")
	want.Tool = "opentofu"
	if facts.Match(want) == nil {
		t.Error("the engine's plan is taken for another tool's")
	}
	if _, err := engine.ParseSaved(file); err != nil {
		t.Error(err)
	}
	if _, err := engine.ParseSaved(file[:len(file)/2]); err == nil {
		t.Error("half a plan is taken for one")
	}
}

// gitServer serves a repository with one module under the tag v1, and returns its address and a commit.
func gitServer(t *testing.T) (address, commit string) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git")
	}
	root := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(git, append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c",
			"init.defaultBranch=main"}, args...)...)
		cmd.Dir, cmd.Env = filepath.Join(root, "repo"), []string{"HOME=" + root, "PATH=" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	writeConfiguration(t, filepath.Join(root, "repo"), map[string]string{"net/main.tf": "variable \"name\" {}\n" +
		"resource \"terraform_data\" \"net\" { input = var.name }\n"})
	run("init")
	run("add", ".")
	run("commit", "-m", "one")
	run("tag", "-a", "v1", "-m", "one")
	commit = run("rev-parse", "HEAD")
	run("config", "http.receivepack", "false")
	server := httptest.NewServer(&cgi.Handler{Path: git, Args: []string{"http-backend"}, Dir: root,
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "HOME=" + root}})
	t.Cleanup(server.Close)
	return server.URL + "/repo/.git", commit
}

func TestModulesComeFromGitOnce(t *testing.T) {
	address, commit := gitServer(t)
	g := &gitModules{folder: t.TempDir(), options: gitmirror.Options{AllowHTTP: true,
		Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}}
	for _, ref := range []string{"v1", commit} {
		dir := t.TempDir()
		writeConfiguration(t, dir, map[string]string{"main.tf": "module \"n\" {\n  source = \"git::" + address +
			"//net?ref=" + ref + "\"\n  name = \"a\"\n}\n"})
		for range 2 {
			root, err := config.LoadWith(dir, g)
			if err != nil {
				t.Fatal(err)
			}
			if root.Calls["n"].Module.Resources["terraform_data.net"] == nil {
				t.Error("the module has no such resource")
			}
		}
	}
	if _, err := g.Fetch(config.GitSource{Repository: address, Ref: "v2"}); err == nil {
		t.Error("a tag that isn't there was fetched")
	}
	// What was fetched once needs no repository.
	offline := &gitModules{folder: g.folder}
	if _, err := offline.Fetch(config.GitSource{Repository: address, Ref: "v1", Folder: "net"}); err != nil {
		t.Error(err)
	}
}
