//go:build e2e

package test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/suite"
)

// TestImportKilled: an import that is killed at any time, again and again, leaves states of which each version is
// whole, and goes on where it was. An export that is killed is there whole or not at all, and the next one is.
func TestImportKilled(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	dir := t.TempDir()
	o := addTenants(t, dir+"/auth.cfg", 1)[0]
	n := &neighbours{t: t, dir: dir}
	n.addSettings(o, "state_rate_limit = off")
	s := newServer(dir, tenantsEnviron(dir))
	t.Cleanup(func() {
		if err := s.end(); err != nil {
			t.Error(err)
		}
	})
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	const states = 40
	want := map[string]string{}
	for i := range states {
		name := fmt.Sprintf("s%02d", i)
		body := fmt.Sprintf(`{"version":4,"serial":1,"lineage":"%s","outputs":{},"resources":[],"x":"%s"}`, name,
			strings.Repeat(name, 1000))
		path := filepath.Join(dir, "from", name+".tfstate")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(body), 0o600)); err != nil {
			t.Fatal(err)
		}
		want[name] = body
	}
	environ := append(freshEnviron(), "HOLDFAST_ADDR="+s.url, "HOLDFAST_KEY="+o.key, "HOME="+dir)
	bin := os.Getenv("HOLDFAST_BIN")
	killed := func(args ...string) (ended bool) {
		cmd := exec.Command(bin, args...)
		cmd.Dir, cmd.Env = dir, environ
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(120)) * time.Millisecond) // any moment will do
		_ = cmd.Process.Kill()
		return cmd.Wait() == nil
	}
	for range 10 {
		killed("import", "folder", "from")
	}
	var all []struct {
		Versions, Stored int
	}
	if err := json.Unmarshal(output(t, dir, environ, bin, "import", "folder", "from", "--json"), &all); err != nil ||
		len(all) != states {
		t.Fatalf("%d states were imported, %v", len(all), err)
	}
	for name, body := range want {
		if got := string(output(t, dir, environ, bin, "state", "pull", name)); got != body {
			t.Errorf("%s is %d bytes, and was %d", name, len(got), len(body))
		}
		var versions []any
		list := output(t, dir, environ, bin, "state", "versions", name, "--json")
		if err := json.Unmarshal(list, &versions); err == nil && len(versions) != 1 {
			t.Errorf("%s has %d versions", name, len(versions))
		}
	}
	for range 6 {
		killed("export", o.id.String(), "-o", "out.zip")
		if _, err := os.Stat(filepath.Join(dir, "out.zip")); err == nil {
			output(t, dir, environ, bin, "import", "export", "out.zip", "--dry-run")
			if err := os.Remove(filepath.Join(dir, "out.zip")); err != nil {
				t.Fatal(err)
			}
		} else if !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	output(t, dir, environ, bin, "export", o.id.String(), "-o", "out.zip")
	output(t, dir, environ, bin, "import", "export", "out.zip", "--dry-run")
}
