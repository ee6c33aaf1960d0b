package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/agent/tools"
)

// newToolShell is a shell whose server keeps its tools in a folder of the test.
func newToolShell(t *testing.T) (s *shell, root string) {
	s = newShell(t)
	root = filepath.Join(t.TempDir(), "data")
	s.environ = []string{"STORAGE_PATH=" + root}
	return s, filepath.Join(root, "tools")
}

// fakeTofu writes a program that says it is this version of OpenTofu.
func fakeTofu(t *testing.T, dir, version string) string {
	t.Helper()
	path := filepath.Join(dir, "tofu")
	text := fmt.Sprintf("#!/bin/sh\ncase \"$2\" in\n-json) echo '{\"terraform_version\": \"%s\", \"platform\": "+
		"\"%s_%s\"}' ;;\n*) echo OpenTofu v%s ;;\nesac\n",
		version, runtime.GOOS, runtime.GOARCH, version)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestToolLife(t *testing.T) {
	s, root := newToolShell(t)
	if out := s.must("tool", "list", "--json"); out != "" {
		t.Errorf("an empty store lists %q", out)
	}
	if out := s.must("tool", "add", "opentofu", "1.12.6", fakeTofu(t, t.TempDir(), "1.12.6")); !strings.HasPrefix(out,
		"Added opentofu 1.12.6, SHA-256 ") {
		t.Errorf("printed %q", out)
	}
	var row toolRow
	if err := json.Unmarshal([]byte(s.must("tool", "list", "--json")), &row); err != nil {
		t.Fatal(err)
	}
	if row.Name != tools.OpenTofu || row.Version != "1.12.6" || len(row.SHA256) != 64 ||
		!strings.HasPrefix(row.Path, root) {
		t.Errorf("listed %+v", row)
	}
	if out := s.must("tool", "list", "--check"); !strings.Contains(out, "opentofu  1.12.6") ||
		!strings.Contains(out, "2026-11-21") {
		t.Errorf("listed\n%s", out)
	}
	s.refuse(exitFailed, "tool_mismatch", "tool", "add", "terraform", "1.12.6", fakeTofu(t, t.TempDir(), "1.12.6"))
	s.refuse(exitUsage, "there is no tool \"pulumi\"", "tool", "add", "pulumi", "1.12.6", "x")
	s.refuse(exitUsage, "it is `holdfast tool add", "tool", "add", "opentofu")
	s.refuse(exitUsage, "confirm with --yes", "tool", "remove", "opentofu", "1.12.6")

	if err := os.Chmod(row.Path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(row.Path, []byte("other"), 0o755); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := s.run("tool", "list", "--check"); code != exitFailed || !strings.Contains(errs, "tool_changed") ||
		!strings.Contains(errs, "changed on disk: 1 tool") {
		t.Errorf("a changed binary: exit %d, stderr %q", code, errs)
	}
	if out := s.must("tool", "remove", "opentofu", "1.12.6", "--yes"); out != "Removed opentofu 1.12.6.\n" {
		t.Errorf("printed %q", out)
	}
	if out := s.must("tool", "remove", "opentofu", "1.12.6", "--yes",
		"--json"); out != `{"tool":"opentofu","version":"1.12.6","removed":false}`+"\n" {
		t.Errorf("printed %q", out)
	}
}

func TestToolAddFromPath(t *testing.T) {
	s, _ := newToolShell(t)
	s.environ = append(s.environ, "PATH="+t.TempDir())
	s.refuse(exitFailed, "no tofu, terraform or terragrunt on PATH", "tool", "add", "--from-path")
	one, two := t.TempDir(), t.TempDir()
	fakeTofu(t, one, "1.12.6")
	if err := os.Rename(fakeTofu(t, two, "1.9.0"), filepath.Join(two, "terraform")); err != nil {
		t.Fatal(err)
	}
	s.environ = append(s.environ[:1], "PATH="+one+string(os.PathListSeparator)+two)
	code, out, errs := s.run("tool", "add", "--from-path")
	if code != exitFailed || !strings.HasPrefix(out, "Has opentofu 1.12.6") || !strings.Contains(errs, "tool_mismatch") ||
		!strings.Contains(errs, "1 program could not be added") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, errs)
	}
}

func TestToolDownloadNeedsKey(t *testing.T) {
	s, _ := newToolShell(t)
	s.refuse(exitFailed, "opentofu_key_file", "tool", "download", "opentofu", "1.12.6")
	s.refuse(exitFailed, "terragrunt is not downloaded", "tool", "download", "terragrunt", "0.88.0")
	s.refuse(exitFailed, "is no version", "tool", "download", "opentofu", "latest")
}
