//go:build e2e

package test

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/suite"
)

// TestLoadKilled: a load into a database that is killed at any time leaves no table that a server looks at, or all of
// them. What a killed one left is no obstacle for the next, and a server serves what was there.
func TestLoadKilled(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	l := newLoading(t)
	killed, during := 0, 0
	for round := range 12 {
		ended := l.kill([]string{"", "LIKE '%'"}[round%2])
		if !ended {
			killed++
		}
		if l.settled(ended) {
			l.again()
		} else if l.count("LIKE 'restoring%'") > 0 {
			during++
		}
	}
	if killed == 0 || during == 0 {
		t.Errorf("%d were killed, and %d of them while they loaded", killed, during)
	}
	output(t, l.dir, l.to, os.Getenv("HOLDFAST_BIN"), "backup", "load", "restored")
	if !l.settled(true) || l.count("LIKE 'restoring%'") > 0 {
		t.Error("what the killed ones left is there")
	}
	l.serves()
}

// loading is a database that is loaded into another one.
type loading struct {
	*testing.T
	dir      string
	org      *tenant
	database ownDatabase // that is loaded into
	to       []string    // its settings
	settings []string    // of the one that was backed up
	load     []string    // the command
	tables   int
	files    []string
	bodies   map[string]string
}

func newLoading(t *testing.T) *loading {
	t.Helper()
	l := &loading{T: t, dir: t.TempDir(), database: testDatabase(t, onMySQL), bodies: map[string]string{},
		load: []string{"backup", "load", "restored"}}
	from := testDatabase(t, onMySQL)
	l.org = addTenants(t, filepath.Join(l.dir, "auth.cfg"), 1)[0]
	(&neighbours{t: t, dir: l.dir}).addSettings(l.org, "state_rate_limit = off")
	settings := tenantsEnviron(l.dir, onMySQL.engines()...)
	l.to = append(slices.Clone(settings), l.database.environ()...)
	settings = append(settings, from.environ()...)
	l.settings = settings
	s := newServer(l.dir, slices.Clone(settings))
	t.Cleanup(func() { _ = s.end() })
	l.must(s.start())
	l.org.base, l.org.http = s.url, httpClient
	for i := range 10 {
		noise := make([]byte, 700_000) // which takes a while to be loaded
		_, _ = rand.Read(noise)
		name := fmt.Sprintf("s%d", i)
		l.bodies[name] = `{"version":4,"serial":1,"lineage":"5ad8","outputs":{},"resources":[],"x":"` + hex.EncodeToString(noise) +
			`"}`
		answer, err := l.org.send("POST", "/api/v1/state/"+name, []byte(l.bodies[name]))
		l.must(err)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Fatal(answer.Status)
		}
	}
	l.must(s.stop())
	bin := os.Getenv("HOLDFAST_BIN")
	output(t, l.dir, settings, bin, "backup", "-o", "one.hfb", "--unencrypted")
	l.tables = l.countIn(from, "LIKE '%'")
	l.again()
	return l
}

func (l *loading) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// again has the database be empty, and all files to be loaded there.
func (l *loading) again() {
	l.Helper()
	l.must(l.database.drop())
	l.must(l.database.create())
	l.must(os.RemoveAll(filepath.Join(l.dir, "restored")))
	output(l.T, l.dir, l.to, os.Getenv("HOLDFAST_BIN"), "restore", "one.hfb", "--to", "restored")
	if l.files = l.dump(); len(l.files) == 0 {
		l.Fatal("there is nothing to load")
	}
}

func (l *loading) dump() []string {
	all, err := filepath.Glob(filepath.Join(l.dir, "restored", "database-*"))
	l.must(err)
	return all
}

// kill kills a load at any moment, or at any moment from when there is such a table on.
func (l *loading) kill(late string) (ended bool) {
	l.Helper()
	cmd := exec.Command(os.Getenv("HOLDFAST_BIN"), l.load...)
	cmd.Dir, cmd.Env = l.dir, l.to
	l.must(cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for late != "" && len(done) == 0 && l.count(late) == 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(time.Duration(mathrand.IntN(150)) * time.Millisecond) // any moment will do
	_ = cmd.Process.Kill()
	return <-done == nil
}

// settled reports whether all tables are there, which they are together, with what was loaded. Otherwise it has to be
// there to be loaded again.
func (l *loading) settled(ended bool) bool {
	l.Helper()
	l.idle()
	there := l.count("NOT LIKE 'restoring%'")
	if there != 0 && there != l.tables {
		l.Fatalf("%d tables of %d are there", there, l.tables)
	}
	if ended && (there == 0 || len(l.dump()) > 0) {
		l.Fatalf("a load has ended, and there are %d tables and the files %v", there, l.dump())
	}
	if there == 0 && !slices.Equal(l.dump(), l.files) {
		l.Fatalf("nothing is loaded, and what is left of %v is %v", l.files, l.dump())
	}
	return there > 0
}

// idle waits until the server has done what it was told last, though nobody waits for it.
func (l *loading) idle() {
	l.Helper()
	l.must(poll(func() error {
		if n := l.number(l.database, "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND "+
			"id <> CONNECTION_ID()"); n > 0 {
			return fmt.Errorf("%d connections are left", n)
		}
		return nil
	}))
}

func (l *loading) count(which string) int { return l.countIn(l.database, which) }

func (l *loading) countIn(d ownDatabase, which string) int {
	l.Helper()
	return l.number(d, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name "+which)
}

// number asks a database's server.
func (l *loading) number(d ownDatabase, query string) (n int) {
	l.Helper()
	db, err := d.pool()
	l.must(err)
	defer db.Close()
	l.must(db.QueryRowContext(l.Context(), query).Scan(&n))
	return n
}

// serves starts a server on what was loaded.
func (l *loading) serves() {
	l.Helper()
	s := newServer(l.dir, slices.Clone(l.to))
	l.must(s.start())
	l.org.base = s.url
	for name, want := range l.bodies {
		answer, err := l.org.send("GET", "/api/v1/state/"+name, nil)
		l.must(err)
		got, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || string(got) != want {
			l.Errorf("%s has %d bytes, %v", name, len(got), err)
		}
	}
	l.must(s.stop())
}
