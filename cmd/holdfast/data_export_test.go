package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExport(t *testing.T) {
	s := newShell(t)
	dir := s.folder(someReports()...)
	file, err := os.ReadFile(filepath.Join(dir, someOrg+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	code, out, errs := s.run("data", "export", "--org", someOrg)
	if code != exitOK || out != string(file) || errs != "Exported 3 records of 1 organization.\n" {
		t.Errorf("exit %d, stderr %q, exported\n%s\nthe file has\n%s", code, errs, out, file)
	}
	if out := s.must("data", "export", "--all"); !strings.HasPrefix(out, string(file)) ||
		strings.Count(out, "\r\n") != 6 || !strings.Contains(out, ",secret,{}\r\n") {
		t.Errorf("exported\n%s", out)
	}
	if out := s.must("data", "export", "--all", "--format", "ndjson"); !strings.HasPrefix(out, webOne) ||
		strings.Count(out, "\n") != 4 {
		t.Errorf("exported\n%s", out)
	}
	if same := s.must("data", "export", "--org", someOrg, "-o", "-"); same != out {
		t.Errorf("to - it writes %q, want %q", same, out)
	}
	safe := s.must("data", "export", "--org", someOrg, "--spreadsheet")
	if want := strings.Replace(string(file), `"=f(`, `"'=f(`, 1); safe != want || safe == string(file) {
		t.Errorf("exported\n%s", safe)
	}
	if out := s.must("data", "export", "--org", "33333333-2222-3333-4444-555555555555", "--format", "ndjson"); out != "" {
		t.Errorf("exported %q", out)
	}
}

func TestExportToFile(t *testing.T) {
	s := newShell(t)
	s.folder(someReports()...)
	path := filepath.Join(t.TempDir(), "all.csv")
	for range 2 {
		s.must("data", "export", "--all", "-o", path)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != s.must("data", "export", "--all") {
		t.Errorf("%v\n%s", err, text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	s.refuse(exitFailed, "not a directory", "data", "export", "--all", "-o", filepath.Join(path, "x"))
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestExportRefuses(t *testing.T) {
	s := newShell(t)
	dir := s.folder(someReports()...)
	for want, args := range map[string]string{
		"choose what to export":                "",
		"choose what to export: --org UUID or": "--all --org " + someOrg,
		"--format: \"xml\" is not":             "--all --format xml",
		"--spreadsheet goes with":              "--all --spreadsheet --format ndjson",
		"--org: \"Acme\" is not":               "--org Acme",
	} {
		s.refuse(exitUsage, want, append([]string{"data", "export"}, strings.Fields(args)...)...)
	}
	running := s.openCSV(dir)
	s.refuse(exitFailed, "another holdfast process holds uploads.lock; stop it first", "data", "export", "--all")
	if err := running.Close(); err != nil {
		t.Fatal(err)
	}
	s.environ = []string{"STORAGE_PATH=" + dir + "/nowhere"}
	s.refuse(exitFailed, "storage.path (STORAGE_PATH) is "+dir+"/nowhere: ", "data", "export", "--all")
	s.environ = []string{"STORAGE_TYPE=memory"}
	s.refuse(exitFailed, "storage.type (STORAGE_TYPE) is memory; set it to", "data", "export", "--all")
}
