// Package plantest makes real plans for tests: it runs the pinned OpenTofu and Terraform in a
// folder of their own against a backend of its own. Everything that the tools need to know of the
// backend comes in TF_HTTP_*, as it does when Holdfast runs them.
package plantest

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Tool is a client: the one that TOFU_BIN or TERRAFORM_BIN names, or that scripts/clients.sh built.
type Tool struct {
	Name    string // opentofu or terraform
	Version string
	path    string
}

// Tools returns both tools. A test that needs them is skipped where they have not been built.
func Tools(t testing.TB) []Tool {
	t.Helper()
	tools := []Tool{{Name: "opentofu", path: find(t, "TOFU_BIN", "opentofu-*/tofu")},
		{Name: "terraform", path: find(t, "TERRAFORM_BIN", "terraform-*/terraform")}}
	for i, tool := range tools {
		command := exec.CommandContext(t.Context(), tool.path, "version", "-json")
		command.Env = []string{"CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE=" + os.DevNull}
		out, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Version string `json:"terraform_version"`
		}
		if err := json.Unmarshal(out, &answer); err != nil {
			t.Fatal(err)
		}
		tools[i].Version = answer.Version
	}
	return tools
}

func find(t testing.TB, variable, pattern string) string {
	t.Helper()
	if path := os.Getenv(variable); path != "" {
		return path
	}
	cache := os.Getenv("HOLDFAST_CLIENTS_CACHE")
	if cache == "" {
		folder, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(folder, "holdfast", "clients")
	}
	found, err := filepath.Glob(filepath.Join(cache, pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Skipf("scripts/clients.sh has not built %s", pattern)
	}
	return found[len(found)-1]
}

// Folder is a configuration that a tool runs in.
type Folder struct {
	t       testing.TB
	Tool    Tool
	Dir     string
	Backend *Backend
	// Env is added to the tool's environment, which is otherwise its own.
	Env map[string]string
}

// New makes a folder with the files, beside a file that names the backend, and initializes it.
func (tool Tool) New(t testing.TB, files map[string]string) *Folder {
	t.Helper()
	f := &Folder{t: t, Tool: tool, Dir: t.TempDir(), Backend: newBackend(t), Env: map[string]string{}}
	f.Write(map[string]string{"backend.tf": "terraform {\n  backend \"http\" {}\n}\n"})
	f.Write(files)
	f.Run("init", "-no-color")
	return f
}

// Write puts files into the folder.
func (f *Folder) Write(files map[string]string) {
	f.t.Helper()
	for name, content := range files {
		path := filepath.Join(f.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			f.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
}

// Run runs the tool and returns its standard output. It must not fail.
func (f *Folder) Run(args ...string) []byte {
	f.t.Helper()
	out, err := f.Try(args...)
	if err != nil {
		f.t.Fatalf("%s %s: %v\n%s", f.Tool.Name, strings.Join(args, " "), err, out)
	}
	return out
}

// Try runs the tool and returns its standard output, with what it said of errors if it failed.
func (f *Folder) Try(args ...string) ([]byte, error) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Minute)
	defer cancel()
	var out, problems bytes.Buffer
	command := exec.CommandContext(ctx, f.Tool.path, args...)
	command.Dir, command.Stdout, command.Stderr = f.Dir, &out, &problems
	env := map[string]string{"PATH": os.Getenv("PATH"), "HOME": f.Dir, "TMPDIR": os.TempDir(), "CHECKPOINT_DISABLE": "1",
		"TF_IN_AUTOMATION": "1", "TF_INPUT": "0", "TF_CLI_CONFIG_FILE": os.DevNull}
	maps.Copy(env, f.Backend.environment())
	maps.Copy(env, f.Env)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		command.Env = append(command.Env, name+"="+env[name])
	}
	err := command.Run()
	if err != nil {
		out.Write(problems.Bytes())
	}
	return out.Bytes(), err
}

// Plan plans into a file, and returns the file's content and what show says of it as JSON.
func (f *Folder) Plan(args ...string) (file, show []byte) {
	f.t.Helper()
	f.Run(slices.Concat([]string{"plan", "-no-color", "-lock=false", "-out=the.plan"}, args)...)
	return f.Read("the.plan"), f.Run("show", "-json", "the.plan")
}

// Apply plans with the options and applies that.
func (f *Folder) Apply(args ...string) {
	f.t.Helper()
	f.Plan(args...)
	f.Run("apply", "-no-color", "the.plan")
}

// Read returns a file of the folder.
func (f *Folder) Read(name string) []byte {
	f.t.Helper()
	content, err := os.ReadFile(filepath.Join(f.Dir, name))
	if err != nil {
		f.t.Fatal(err)
	}
	return content
}
