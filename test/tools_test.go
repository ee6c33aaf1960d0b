//go:build e2e

package test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/internal/suite"
)

// withProviders uses each of the pinned providers once.
const withProviders = `
terraform {
  required_version = "%s"
}
data "http" "probe" {
  url = "%s"
}
resource "time_static" "made" {}
resource "local_file" "greeting" {
  filename = "greeting.txt"
  content  = "${data.http.probe.body} at ${time_static.made.rfc3339}"
}
`

// TestToolsRunProviders has tools out of a store run real providers, several at once and in
// each slot twice, out of a mirror without a network; with a cache for each slot, and without.
func TestToolsRunProviders(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	probe := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "hello")
	}))
	t.Cleanup(probe.Close)
	store := tools.New(tools.Settings{Root: filepath.Join(t.TempDir(), "tools")})
	cached := tools.Plugins{Mirror: program(t, "PROVIDERS_MIRROR"), Cache: filepath.Join(t.TempDir(), "cache"),
		Direct: true}
	mirrored := tools.Plugins{Mirror: cached.Mirror}
	for _, c := range []struct {
		name              tools.Name
		version, variable string
	}{{tools.OpenTofu, "1.12.6", "TOFU_BIN"}, {tools.Terraform, "1.5.7", "TERRAFORM_BIN"}} {
		t.Run(string(c.name), func(t *testing.T) {
			if _, err := store.Add(t.Context(), c.name, c.version, program(t, c.variable)); err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for slot := range 4 {
				plugins := cached
				if slot%2 == 0 {
					plugins = mirrored
				}
				dir := t.TempDir()
				writeText(t, filepath.Join(dir, "main.tf"), fmt.Sprintf(withProviders, "~> "+c.version, probe.URL))
				found, err := store.Resolve(t.Context(), tools.Want{Tool: c.name, Files: os.DirFS(dir)})
				if err != nil {
					t.Fatal(err)
				}
				config, err := plugins.CLIConfig(c.name, slot)
				if err != nil {
					t.Fatal(err)
				}
				writeText(t, filepath.Join(dir, "cli.tfrc"), config.Text)
				all.Go(func() { twice(t, found.Tool.Path, dir) })
			}
			all.Wait()
		})
	}
}

// twice applies in a folder as if it were new, both times.
func twice(t *testing.T, tool, dir string) {
	applyWith(t, tool, dir)
	for _, name := range []string{".terraform", ".terraform.lock.hcl", "terraform.tfstate", "greeting.txt"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	applyWith(t, tool, dir)
}

// applyWith runs init and apply in a folder, and looks for what apply makes.
func applyWith(t *testing.T, tool, dir string) {
	for _, args := range [][]string{{"init", "-input=false"}, {"apply", "-auto-approve", "-input=false"}} {
		cmd := exec.CommandContext(t.Context(), tool, args...)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "PATH=/usr/bin:/bin", "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE=" +
			filepath.Join(dir, "cli.tfrc")}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s %v: %v\n%s", tool, args, err, out)
			return
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "greeting.txt")); err != nil ||
		len(text) < len("hello at 2026-01-01T00:00:00Z") {
		t.Errorf("greeting.txt has %q, %v", text, err)
	}
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
