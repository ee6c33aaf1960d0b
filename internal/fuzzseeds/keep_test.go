package fuzzseeds

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

const (
	one = header + "\nstring(\"one\")\n[]byte(\"\\xff\\n\")\nint64(1)\nuint16(1)\nbool(true)\n"
	two = header + "\nstring(\"two\")\n[]byte(\"\")\nint64(-2)\nuint16(2)\nbool(false)\n"
)

// TestFindingsAreKept has Go find a failure, moves it into the archive, and wants the target
// to fail of the archive alone from then on.
func TestFindingsAreKept(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "testdata", "fuzz", "FuzzEmpty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := runTarget(t, root, "-test.run=^$", "-test.fuzz=^FuzzSeed$", "-test.fuzztime=20000x",
		"-test.fuzzcachedir="+t.TempDir()); err == nil {
		t.Fatalf("nothing was found:\n%s", out)
	}
	folders, err := Loose(root)
	if len(folders) != 1 || err != nil {
		t.Fatal(folders, err)
	}
	if err := Keep(folders[0]); err != nil {
		t.Fatal(err)
	}
	if left, err := Loose(root); len(left) > 0 || err != nil {
		t.Errorf("%v are left, %v", left, err)
	}
	if out, err := runTarget(t, root, "-test.run=^FuzzSeed$"); err == nil ||
		!strings.Contains(out, "--- FAIL: FuzzSeed/seed#0") {
		t.Errorf("the archive's seed does not fail: %v\n%s", err, out)
	}
}

func TestTargetRunsItsArchive(t *testing.T) {
	root := t.TempDir()
	putFile(t, filepath.Join(root, "testdata", "fuzz", "FuzzSeed.txtar"), "About it.\n-- found/one --\n"+one+
		"-- covers/two --\n"+two)
	out, err := runTarget(t, root, "-test.run=^FuzzSeed$")
	for _, want := range []string{"FAIL: FuzzSeed/seed#0", "FAIL: FuzzSeed/seed#1", "PASS: FuzzSeed/seed#2",
		"2 seeds are the sections of"} {
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("no %q, %v:\n%s", want, err, out)
		}
	}
	putFile(t, filepath.Join(root, "testdata", "fuzz", "FuzzSeed.txtar"), "-- found/one --\n"+one+
		"-- found/broken --\nbytes\n")
	if out, err := runTarget(t, root, "-test.run=^FuzzSeed$"); err == nil ||
		!strings.Contains(out, "section found/broken: the first line") {
		t.Errorf("a broken archive: %v\n%s", err, out)
	}
}

// runTarget runs this package's target in a folder, with the failure planted.
func runTarget(t *testing.T, folder string, arguments ...string) (string, error) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, append(arguments, "-test.v", "-test.parallel=1")...)
	command.Dir = folder
	command.Env = append(os.Environ(), planted+"=1")
	out, err := command.CombinedOutput()
	return string(out), err
}

func TestKeep(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "a", "testdata", "fuzz", "FuzzA")
	path := folder + ".txtar"
	putFile(t, path, "Mine.\n-- covers/0 --\n"+two+"-- found/1 --\n"+one)

	// Of these one is new, one is there because of what it covers, and one, without its last
	// line end, was moved before by a Keep that died.
	putFile(t, filepath.Join(folder, "1"), strings.TrimSuffix(one, "\n"))
	putFile(t, filepath.Join(folder, "2"), two)
	three := strings.Replace(two, "two", "three", 1)
	putFile(t, filepath.Join(folder, "3"), three)
	if err := Keep(folder); err != nil {
		t.Fatal(err)
	}
	got, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := &txtar.Archive{Comment: []byte("Mine.\n"), Files: []txtar.File{
		{Name: "found/2", Data: []byte(two)}, {Name: "found/1", Data: []byte(one)}, {Name: "found/3", Data: []byte(three)}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
	}
}

// TestKeepRefuses wants everything as it was when a file is no seed.
func TestKeepRefuses(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "testdata", "fuzz", "FuzzA")
	putFile(t, filepath.Join(folder, "a"), one)
	putFile(t, filepath.Join(folder, "b"), "no seed\n")
	if err := Keep(folder); err == nil || !strings.Contains(err.Error(), filepath.Join(folder, "b")) {
		t.Errorf("Keep = %v, want an error that names the file", err)
	}
	if _, err := os.Stat(folder + ".txtar"); !os.IsNotExist(err) {
		t.Errorf("there is an archive: %v", err)
	}
	if kept, err := os.ReadFile(filepath.Join(folder, "a")); !bytes.Equal(kept, []byte(one)) || err != nil {
		t.Errorf("%q, %v", kept, err)
	}
}

func putFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
