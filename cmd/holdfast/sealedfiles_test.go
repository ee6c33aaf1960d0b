package main

import (
	"bytes"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingInTheClear plants values in states, sensitive and not, has a server do all that it does with them,
// and looks for them in whatever it has written: the store with its WAL files, backups and what is restored of
// them, its log and its metrics.
func TestNothingInTheClear(t *testing.T) {
	s := newTenant(t)
	s.beside()
	elsewhere := t.TempDir()
	const usual, sensitive = "pl4nted-usual-value", "hunter2"
	r := s.start("HOLDFAST_LOG_LEVEL=debug")
	s.reaching(r)
	for version := 1; version <= 3; version++ { // the later ones are deltas
		s.push("prod/app", network(version, usual, strings.Repeat("x", 3000), strings.Repeat("y", version)))
	}
	identity, recipient := s.identity()
	backup := filepath.Join(elsewhere, "one.hfb")
	look := func(when string) {
		t.Helper()
		for _, text := range []string{usual, sensitive} {
			if in := filesBelow(t, text, s.data, elsewhere); len(in) > 0 {
				t.Errorf("%s: %q is in %v", when, text, in)
			}
			if strings.Contains(r.log.String(), text) {
				t.Errorf("%s: %q is in the log", when, text)
			}
		}
	}
	if out := s.must("resource", "search", "--attr", "size="+usual); !strings.Contains(out, "aws_vpc.net0") {
		t.Errorf("a search by a value finds:\n%s", out)
	}
	s.must("resource", "search", usual)
	s.must("state", "diff", "prod/app", "1")
	s.must("state", "rollback", "prod/app", "1", "--reason", "test", "--yes")
	look("while it is served")
	if text := metricsOf(t, r.address); strings.Contains(text, usual) || strings.Contains(text, sensitive) {
		t.Error("it is in the metrics")
	}
	s.must("backup", "-o", backup, "--recipient", recipient)
	s.must("doctor")
	look("after a backup")
	s.must("restore", backup, "--to", filepath.Join(elsewhere, "restored"), "--identity", identity)
	r.stop()
	r.wait()
	look("in the end")
	if in := filesBelow(t, "prod/app", s.data); len(in) == 0 {
		t.Error("not even the state's name is there: this test does not look where it should")
	}
}

// filesBelow lists files below folders that have a text in them.
func filesBelow(t *testing.T, text string, dirs ...string) (in []string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // temporary files go at any time
			}
			if content, err := os.ReadFile(path); err == nil && bytes.Contains(content, []byte(text)) {
				in = append(in, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return in
}

func metricsOf(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
