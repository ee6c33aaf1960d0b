package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/inventory"
)

// manyReports are uploads of both organizations, some of them alike at the same time.
func manyReports(n int) []inventory.Batch {
	var all []inventory.Batch
	for i := range n {
		after := time.Duration(i/3) * time.Second
		all = append(all, report(acme, after, fmt.Sprint("web-", i/2), `{"id":9007199254740993,"s":"<&>\","}`),
			report(globex, after, "same", `{}`))
	}
	return all
}

// What was exported and imported is the same to the byte.
func TestImportWhatWasExported(t *testing.T) {
	s := newShell(t)
	from := s.folder(append(someReports(), manyReports(0)...)...)
	for _, format := range []string{"csv", "ndjson"} {
		file := filepath.Join(t.TempDir(), "all."+format)
		s.environ = []string{"STORAGE_PATH=" + from}
		s.must("data", "export", "--all", "--format", format, "-o", file)
		to := filepath.Join(t.TempDir(), "data")
		s.environ = []string{"STORAGE_PATH=" + to}
		for _, want := range []string{"Imported 4 records of 2 organizations; 0 there already.\n",
			"Imported 0 records of 2 organizations; 4 there already.\n"} {
			if out := s.must("data", "import", file); out != want {
				t.Errorf("%s: printed %q, want %q", format, out, want)
			}
		}
		before, _ := os.ReadFile(filepath.Join(from, someOrg+".csv"))
		after, _ := os.ReadFile(filepath.Join(to, someOrg+".csv"))
		if len(before) == 0 || string(before) != string(after) || s.extents(from) != s.extents(to) {
			t.Errorf("%s:\n%s\nbecame\n%s", format, before, after)
		}
	}
}

// Of a folder from which old records were removed, what stays is exported and imported.
func TestExportWhatHasNotExpired(t *testing.T) {
	s := newShell(t)
	from := s.folder(someReports()...)
	store := s.openCSV(from)
	removed, err := store.Expire(t.Context(), acme, moment.Add(time.Hour), 1)
	if err := errors.Join(err, store.Close()); removed != 1 || err != nil {
		t.Fatal(removed, err)
	}
	file := filepath.Join(t.TempDir(), "all.csv")
	s.must("data", "export", "--all", "-o", file)
	to := filepath.Join(t.TempDir(), "data")
	s.environ = []string{"STORAGE_PATH=" + to}
	if out := s.must("data", "import", file); out != "Imported 3 records of 2 organizations; 0 there already.\n" {
		t.Errorf("printed %q", out)
	}
	before, _ := os.ReadFile(filepath.Join(from, someOrg+".csv"))
	after, _ := os.ReadFile(filepath.Join(to, someOrg+".csv"))
	if len(before) == 0 || string(before) != string(after) || s.extents(from) != s.extents(to) {
		t.Errorf("\n%s\nbecame\n%s", before, after)
	}
}

func TestImportDryRun(t *testing.T) {
	s := newShell(t)
	s.folder(someReports()...)
	file := s.write("all.csv", s.must("data", "export", "--all"))
	s.environ = nil
	to := s.folder(someReports()[0]) // the first of Acme's
	before := s.extents(to)
	want := `{
  "organizations": 2,
  "added": 3,
  "present": 1,
  "dry_run": true
}
`
	for range 2 {
		if out := s.must("data", "import", "--dry-run", "--json", file); out != want {
			t.Errorf("printed %s", out)
		}
	}
	if out := s.must("data", "import", "--dry-run", "--org", globex.String(),
		file); out != "Would import 1 record of 1 organization; 0 there already.\n" {
		t.Errorf("printed %s", out)
	}
	if after := s.extents(to); after != before {
		t.Errorf("it has\n%s, had\n%s", after, before)
	}
}

// Scenario: imports are interrupted at any point. Check: in the end everything is there
// once.
func TestImportContinues(t *testing.T) {
	s := newShell(t)
	from := s.folder(manyReports(300)...)
	file := s.write("all.ndjson", s.must("data", "export", "--all", "--format", "ndjson"))
	to := filepath.Join(t.TempDir(), "data")
	s.environ = []string{"STORAGE_PATH=" + to}
	for _, after := range []time.Duration{20, 50, 100, 200} {
		ctx, cancel := context.WithTimeout(t.Context(), after*time.Millisecond)
		a := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, environ: s.environ, now: time.Now}
		t.Logf("after %d ms: exit %d", after, run(ctx, []string{"data", "import", file}, a))
		cancel()
	}
	s.must("data", "import", file)
	if got, want := s.extents(to), s.extents(from); got != want {
		t.Errorf("it has\n%swant\n%s", got, want)
	}
}

func TestImportRefuses(t *testing.T) {
	s := newShell(t)
	to := s.folder(someReports()...)
	before := s.extents(to)
	const line = `{"timestamp":"2027-01-31T12:00:00Z","org_id":"` + someOrg +
		`","data":{"provider":"aws","category":"c","resource_type":"t","resource_name":"n","attributes":{}}}` + "\n"
	s.refuse(exitUsage, "say with --format", "data", "import", s.write("all.txt", line))
	s.refuse(exitUsage, "say with --format", "data", "import", "--format", "xml", s.write("all.csv", line))
	s.refuse(exitUsage, "it is `holdfast data import FILE", "data", "import")
	s.refuse(exitUsage, "--org: \"x\" is not", "data", "import", "--org", "x", s.write("all.ndjson", line))
	for want, text := range map[string]string{
		"nothing was imported: ":                    "{",
		"bad.ndjson: line 2: provider is a string":  line + strings.Replace(line, "aws", "a b", 1),
		"must be in the order of their timestamps":  line + strings.Replace(line, "2027", "2026", 1),
		"the store holds other records: of organiz": strings.Replace(line, "2027", "2025", 1),
	} {
		code, _, errs := s.run("data", "import", s.write("bad.ndjson", text))
		if code != exitFailed || !strings.Contains(errs, want) {
			t.Errorf("exit %d, stderr %s, want %s", code, errs, want)
		}
	}
	if after := s.extents(to); after != before {
		t.Errorf("it has\n%s, had\n%s", after, before)
	}
}
