package test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestAreasHaveEverything holds that `make deep` runs each package, script and test with real clients, in one area.
func TestAreasHaveEverything(t *testing.T) {
	packages := areas(t, "go")
	for _, folder := range packageFolders(t) {
		if !slices.ContainsFunc(packages, func(e inArea) bool { return e.name == folder && e.area != "none" }) {
			t.Errorf("scripts/areas names no area for the package %s", folder)
		}
	}
	var scripts, tests []string
	for _, file := range filesMatching(t, "scripts/*.txtar") {
		scripts = append(scripts, strings.TrimSuffix(filepath.Base(file), ".txtar"))
	}
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	for _, file := range append(filesMatching(t, "*_test.go"), filesMatching(t, "../agent/shim/*_test.go")...) {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(source), "//go:build e2e") {
			continue
		}
		for _, found := range function.FindAllStringSubmatch(string(source), -1) {
			if found[1] != "TestScripts" { // whose scripts have areas of their own
				tests = append(tests, found[1])
			}
		}
	}
	for kind, there := range map[string][]string{"script": scripts, "e2e": tests} {
		times := map[string]int{}
		for _, entry := range areas(t, kind) {
			times[entry.name]++
			if !slices.Contains(there, entry.name) {
				t.Errorf("scripts/areas names the %s %s, which does not exist", kind, entry.name)
			}
		}
		for _, name := range there {
			if times[name] != 1 {
				t.Errorf("scripts/areas names the %s %s %d times; it has to be in one area", kind, name, times[name])
			}
		}
	}
}

// packageFolders returns the folders of the module's packages. Go's test cache knows by this walk that the test
// depends on which there are.
func packageFolders(t *testing.T) (folders []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		_, noModule := os.Stat(filepath.Join(path, "go.mod"))
		if path != ".." && noModule == nil || entry.Name() == "testdata" || entry.Name() == "node_modules" ||
			path == "../.git" || path == "../bin" {
			return fs.SkipDir
		}
		if files, _ := filepath.Glob(filepath.Join(path, "*.go")); len(files) > 0 {
			folders = append(folders, strings.TrimPrefix(path, "../"))
		}
		return nil
	})
	if err != nil || len(folders) < 50 {
		t.Fatalf("%d packages, %v", len(folders), err)
	}
	return folders
}

type inArea struct{ area, name string }

// areas returns what scripts/areas has of a kind.
func areas(t *testing.T, kind string) []inArea {
	t.Helper()
	for _, file := range []string{"../scripts/areas", "../scripts/areas.sh"} {
		if _, err := os.Stat(file); err != nil { // what the result depends on
			t.Fatal(err)
		}
	}
	out, err := exec.Command("../scripts/areas.sh", kind).Output()
	if err != nil {
		t.Fatal(err)
	}
	var entries []inArea
	for line := range strings.Lines(string(out)) {
		area, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		entries = append(entries, inArea{area, name})
	}
	if len(entries) == 0 {
		t.Fatalf("scripts/areas has no %s", kind)
	}
	return entries
}

func filesMatching(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	return files
}
