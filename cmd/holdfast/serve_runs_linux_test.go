package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const executesRuns = "the server executes runs"

// probed reports whether anything was executed for runs: each execution has a folder in here.
func probed(t *testing.T, s *shell) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(s.file+".data", "runs"))
	return err == nil
}

// A server without organizations whose runs it executes starts nothing for them, and begins as
// soon as there is one.
func TestServeStartsItsExecutorWhenItIsWanted(t *testing.T) {
	o := newTenant(t)
	with, err := os.ReadFile(o.file)
	if err != nil {
		t.Fatal(err)
	}
	without := strings.ReplaceAll(string(with), "runs_local = true", "runs_local = false")
	if without == string(with) {
		t.Fatalf("the first organization's runs are not local: %s", with)
	}
	write := func(text string) {
		if err := os.WriteFile(o.file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(without)
	r := o.start()
	if status, body := o.call(r, "GET", "/readyz", ""); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if probed(t, o.shell) || strings.Contains(r.log.String(), executesRuns) {
		t.Errorf("something was executed:\n%s", r.log)
	}
	write(string(with))
	r.await(executesRuns)
	if !probed(t, o.shell) {
		t.Error("nothing was executed")
	}
}
