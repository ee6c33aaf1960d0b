package tools_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/fault"
)

const platform = runtime.GOOS + "_" + runtime.GOARCH

var someTime = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// newStore returns a store that downloads nothing.
func newStore(t *testing.T) (*tools.Store, string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "tools")
	return tools.New(tools.Settings{Root: root, Now: func() time.Time { return someTime }}), root
}

// script is a program that answers as a tool of this version does.
func script(banner, version string) string {
	return fmt.Sprintf(`#!/bin/sh
case "$*" in
"version -json") echo '{"terraform_version": "%s", "platform": "%s", "provider_selections": {}}' ;;
*) echo "%s%s" ;;
esac
`, version, platform, banner, version)
}

func tofu(version string) string       { return script("OpenTofu v", version) }
func terraform(version string) string  { return script("Terraform v", version) }
func terragrunt(version string) string { return script("terragrunt version v", version) }

// program writes a program into a folder of its own.
func program(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte(text), 0o755))
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// add puts programs of these versions into a store.
func add(t *testing.T, s *tools.Store, name tools.Name, text func(string) string, versions ...string) {
	t.Helper()
	for _, version := range versions {
		_, err := s.Add(t.Context(), name, version, program(t, name.Binary(), text(version)))
		must(t, err)
	}
}

func wantFault(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Errorf("got %v, want a fault %s", err, code)
	}
}

// nothingAt fails if anything of the store but its own folders is there.
func nothingAt(t *testing.T, s *tools.Store, root string) {
	t.Helper()
	list, err := s.List(context.Background())
	if err != nil || len(list) > 0 {
		t.Errorf("the store has %v, %v", list, err)
	}
	if left, _ := filepath.Glob(filepath.Join(root, ".staging", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
