package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// builder runs scripts/build.sh with a Go that writes a word, and what was in the place of it.
type builder struct {
	t    *testing.T
	home string
}

const fakeGo = `#!/bin/sh
for word; do last=$file file=$word; [ "$last" != -o ] || break; done
echo "was: $(cat "$file" 2>/dev/null)" >&2
[ -z "${BROKEN-}" ] || exit 1
echo "$*" | sed 's/.*main.version=\([^ ]*\).*/\1/' >"$file"
`

func newBuilder(t *testing.T) builder {
	b := builder{t, t.TempDir()}
	if err := os.WriteFile(filepath.Join(b.home, "go"), []byte(fakeGo), 0o700); err != nil {
		t.Fatal(err)
	}
	return b
}

// build builds a version in a folder of its own, and returns what the linker found there.
func (b builder) build(version string, environ ...string) (was string, err error) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "bin", "holdfast")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.Command("../scripts/build.sh", version, file)
	cmd.Env = append([]string{"PATH=" + b.home + ":" + os.Getenv("PATH"), "HOME=" + b.home, "KEEP=1"}, environ...)
	out, err := cmd.CombinedOutput()
	if made, _ := os.ReadFile(file); err == nil && strings.TrimSpace(string(made)) != version {
		b.t.Errorf("%s was built, and there is %q", version, made)
	}
	return strings.TrimSpace(strings.TrimPrefix(string(out), "was:")), err
}

func (b builder) must(version string, environ ...string) (was string) {
	b.t.Helper()
	was, err := b.build(version, environ...)
	if err != nil {
		b.t.Fatalf("%v\n%s", err, was)
	}
	return was
}

// kept are the names of what is kept, whose times it sets so that they are in this order.
func (b builder) kept(order ...string) []string {
	b.t.Helper()
	folder := filepath.Join(b.home, ".cache", "holdfast", "programs")
	for i, version := range order {
		when := time.Unix(int64(i), 0)
		if err := os.Chtimes(filepath.Join(folder, version), when, when); err != nil {
			b.t.Error(err)
		}
	}
	entries, _ := os.ReadDir(folder)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestBuildKeepsProgramsOfCommits(t *testing.T) {
	b := newBuilder(t)
	if was := b.must("release/1"); was != "" {
		t.Errorf("the first build found %q", was)
	}
	if was := b.must("release/1"); was != "release/1" {
		t.Errorf("the linker found %q", was)
	}
	for _, version := range []string{"c2", "c3"} {
		b.must(version)
	}
	b.kept("release-1", "c2", "c3")
	b.must("release/1") // it is used: the oldest one is c2 now
	b.kept("c2", "c3")
	b.must("c4")
	if got := b.kept(); !slices.Equal(got, []string{"c3", "c4", "release-1"}) {
		t.Errorf("%v are kept", got)
	}
}

func TestBuildKeepsNothingElse(t *testing.T) {
	b := newBuilder(t)
	for _, version := range []string{"c1-dirty", "dev"} {
		b.must(version)
	}
	b.must("c1", "KEEP=")
	if was, err := b.build("c1", "BROKEN=1"); err == nil {
		t.Errorf("a build that fails ends as if it had not: %s", was)
	}
	b.must("c1", "HOME=")
	b.must("c1", "XDG_CACHE_HOME=/dev/null") // nothing can be kept there
	if got := b.kept(); got != nil {
		t.Errorf("%v are kept", got)
	}
}
