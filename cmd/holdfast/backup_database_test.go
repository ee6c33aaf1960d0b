package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestBackupOfADatabase backs up a server that runs and keeps all in a database, with uploads of several organizations,
// and restores it on another one.
func TestBackupOfADatabase(t *testing.T) { eachEngine(t, checkBackupOfADatabase) }

func checkBackupOfADatabase(t *testing.T, engine string) {
	s := newShell(t)
	s.databaseOf(engine)
	here := s.environ
	settings := allInDatabase(engine)
	s.environ = append(s.environ, settings...)
	s.beside()
	s.must("init", "--org-name", "Acme")
	r := s.start(s.environ...)
	store := s.inDatabase()
	upload(t, store, someReports()...)
	identity, recipient := s.identity()
	dir := t.TempDir()
	one := filepath.Join(dir, "one.hfb")
	s.must("backup", "-o", one, "--recipient", recipient, "--with-master-key")
	upload(t, store, report(globex, 3*time.Hour, "later", `{}`))
	uploads := extentsOf(t, store)
	s.must("backup", "-o", filepath.Join(dir, "two.hfb"), "--since", one, "--recipient", recipient)
	s.must("backup", "verify", one, "--identity", identity)

	restored := filepath.Join(dir, "restored")
	s.fails("loaded", "backup", "load", dir)
	s.must("restore", one, filepath.Join(dir, "two.hfb"), "--to", restored, "--identity", identity)
	s.fails("holdfast backup load --at", "restore", one, "--to", filepath.Join(dir, "at"), "--identity",
		identity, "--at", "2026-11-21T12:00:00Z")
	s.fails("is not empty", "backup", "load", restored) // it is served
	r.stop()
	r.wait()
	s.environ = nil
	s.databaseOf(engine)
	s.environ = append(s.environ, settings...)
	s.must("backup", "load", restored)
	if left, err := filepath.Glob(filepath.Join(restored, "database-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for _, name := range []string{"state.db", "runs.db"} {
		if _, err := os.Stat(filepath.Join(restored, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
	s.data = restored
	store = s.inDatabase()
	if got := extentsOf(t, store); got != uploads {
		t.Errorf("the database has uploads\n%swant\n%s", got, uploads)
	}
	upload(t, store, report(globex, 4*time.Hour, "after", `{}`), report(uuid.New(), 0, "new", `{}`))
	if strings.Join(here, " ") == strings.Join(s.environ[:len(here)], " ") {
		t.Fatal("it is the same database")
	}
	s.served(s.environ...)
}

// TestLoadAt brings the states of a database back to a time when they are loaded into another one, or loads nothing.
func TestLoadAt(t *testing.T) { eachEngine(t, checkLoadAt) }

func checkLoadAt(t *testing.T, engine string) {
	s, _, r := servedFromDatabase(t, engine)
	s.push("prod/app", network(1, "old", "", ""))
	s.push("prod/gone", network(1, "gone", "", ""))
	at, uploads := time.Now().Format(time.RFC3339Nano), extentsOf(t, s.inDatabase())
	s.push("prod/app", network(2, "new", "", ""))
	s.push("prod/made", network(1, "made", "", ""))
	s.must("state", "rm", "prod/gone", "--yes")
	r.stop()
	r.wait()
	dir := t.TempDir()
	one, restored := filepath.Join(dir, "one.hfb"), filepath.Join(dir, "restored")
	s.must("backup", "-o", one, "--unencrypted")
	s.must("restore", one, "--to", restored)

	master := filepath.Join(s.data, "master.key")
	s.environ = nil
	d := s.databaseOf(engine)
	s.environ = append(s.environ, allInDatabase(engine)...)
	s.data = restored
	s.refuse(exitUsage, "is no time", "backup", "load", restored, "--at", "yesterday")
	s.refuse(exitUsage, "is still to come", "backup", "load", restored, "--at", "9999-01-01T00:00:00Z")
	s.refuse(exitUsage, "--master-key-file goes with --at", "backup", "load", restored, "--master-key-file", master)
	s.refuse(exitUsage, "--master-key-file goes with --at", "restore", one, "--to", restored, "--master-key-file", master)
	s.fails("--master-key-file has to say", "backup", "load", restored, "--at", at)
	if n := d.tables(t); n != 0 {
		t.Fatalf("%d tables are there of a load that has failed", n)
	}
	s.must("backup", "load", restored, "--at", at, "--master-key-file", master)
	s.fails("loaded", "backup", "load", restored, "--at", at)

	s.environ = append(s.environ, "HOLDFAST_SEAL_MASTER_KEY_FILE="+master)
	s.must("doctor")
	if got := extentsOf(t, s.inDatabase()); got != uploads {
		t.Errorf("the database has uploads\n%swant\n%s", got, uploads)
	}
	r = s.start(s.environ...)
	s.asks(r)
	for name, want := range map[string]string{"prod/app": `"old"`, "prod/gone": `"gone"`} {
		if out := s.must("state", "pull", name); !strings.Contains(out, want) {
			t.Errorf("%s is %s", name, out)
		}
	}
	s.fails("prod/made", "state", "pull", "prod/made")
	if out := s.must("state", "versions", "prod/app"); strings.Count(out, "\n") < 3 {
		t.Errorf("the later version is gone: %s", out)
	}
	alter(t, d, `INSERT INTO moves VALUES ('target', '{"role":"target","other":"a backup (holdfast backup load)"}')`)
	s.fails("did not end", "backup", "-o", filepath.Join(dir, "half.hfb"), "--unencrypted")
	s.fails("did not end", "doctor")
}

// TestLoadAtWithoutStates: states that are in the folder go back there, beside what was in a database of either server.
func TestLoadAtWithoutStates(t *testing.T) { eachEngine(t, checkLoadAtWithoutStates) }

func checkLoadAtWithoutStates(t *testing.T, engine string) {
	s := newTenant(t)
	s.databaseOf(engine)
	s.environ = append(s.environ, "HOLDFAST_RUNS_STORAGE="+engine)
	s.beside()
	r := s.start(s.environ...)
	dir, at := t.TempDir(), time.Now().Format(time.RFC3339)
	one, restored := filepath.Join(dir, "one.hfb"), filepath.Join(dir, "restored")
	s.must("doctor")
	s.must("backup", "-o", one, "--unencrypted", "--with-master-key")
	r.stop()
	r.wait()
	s.must("restore", one, "--to", restored, "--at", at)

	s.databaseOf(otherEngine(engine))
	s.fails("holdfast migrate --from "+engine+" --to sqlite", "backup", "load", restored)
	d := s.databaseOf(engine)
	s.fails("there were no states in the database", "backup", "load", restored, "--at", at)
	if n := d.tables(t); n != 0 {
		t.Errorf("%d tables are there", n)
	}
	s.must("backup", "load", restored)
	s.fails("nothing that was in one is in the backup, or it is loaded", "backup", "load", restored)
	s.data = restored
	s.environ = append(s.environ, "HOLDFAST_RUNS_STORAGE="+engine)
	s.must("doctor")
	s.served(s.environ...)
}
