package main

import (
	"bytes"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
)

// allInDatabase are the settings of a server that keeps all in a database.
func allInDatabase(engine string) []string {
	return []string{"STATE_STORAGE=" + engine, "HOLDFAST_RUNS_STORAGE=" + engine, "STORAGE_TYPE=" + engine}
}

// serverDatabase is a database on a server.
type serverDatabase struct {
	engine string
	open   func() (*sql.DB, error)
}

// databaseOf has the settings name a database of an engine.
func (s *shell) databaseOf(engine string) serverDatabase {
	s.t.Helper()
	if engine == configs.MySQL {
		d := s.database()
		return serverDatabase{engine, func() (*sql.DB, error) { return d.Open(d.Name) }}
	}
	suite.Deep(s.t)
	url := pgtest.New(s.t)
	s.environ = []string{"DATABASE_URL=" + url}
	return serverDatabase{engine, func() (*sql.DB, error) { return sql.Open("pgx", url) }}
}

// otherEngine is that of the other server.
func otherEngine(engine string) string {
	if engine == configs.MySQL {
		return configs.Postgres
	}
	return configs.MySQL
}

// tables counts those of a database.
func (d serverDatabase) tables(t testing.TB) (n int) {
	t.Helper()
	db, err := d.open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	here := map[string]string{configs.MySQL: "DATABASE()", configs.Postgres: "current_schema()"}[d.engine]
	if err := db.QueryRowContext(t.Context(),
		"SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = "+here).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// eachEngine runs a test with a database of each server.
func eachEngine(t *testing.T, test func(t *testing.T, engine string)) {
	for _, engine := range []string{configs.MySQL, configs.Postgres} {
		t.Run(engine, func(t *testing.T) { test(t, engine) })
	}
}

// TestDatabaseAlone: a server that keeps all in a database starts where its folder is missing, which it makes, for its
// user alone; and again without it where the master key is elsewhere.
func TestDatabaseAlone(t *testing.T) {
	s := newShell(t)
	s.database()
	s.environ = append(s.environ, allInDatabase(configs.MySQL)...)
	s.must("init", "--org-name", "Acme")
	s.beside() // which is not there, unlike where init has made a key
	s.served(s.environ...)
	if info, err := os.Stat(s.data); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("the folder is %v, %v", info, err)
	}
	key := filepath.Join(t.TempDir(), "master.key")
	if err := os.Rename(filepath.Join(s.data, "master.key"), key); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(s.data); err != nil {
		t.Fatal(err)
	}
	s.environ = append(s.environ, "HOLDFAST_SEAL_MASTER_KEY_FILE="+key)
	s.must("doctor")
	if err := os.RemoveAll(s.data); err != nil {
		t.Fatal(err)
	}
	s.must("backup", "-o", filepath.Join(t.TempDir(), "one.hfb"), "--unencrypted")
	if err := os.RemoveAll(s.data); err != nil {
		t.Fatal(err)
	}
	s.served(s.environ...)
}

// TestDoctorOfADatabase: the doctor finds what is damaged of states and runs in a database, while it is served too,
// and changes nothing.
func TestDoctorOfADatabase(t *testing.T) { eachEngine(t, checkDoctorOfADatabase) }

func checkDoctorOfADatabase(t *testing.T, engine string) {
	s, d, r := servedFromDatabase(t, engine)
	for version := 1; version <= 3; version++ {
		s.push("prod/app", network(version, "usual", strings.Repeat("x", 3000), strings.Repeat("y", version)))
	}
	s.push("prod/other", network(1, "usual", "", ""))
	s.must("workspace", "create", "prod/app")
	s.must("workspace", "set", "prod/app", "--env", "A=b")
	s.must("doctor")
	s.counted()
	r.stop()
	r.wait()
	before := s.dumped()
	if out := s.must("doctor", "--json"); !strings.Contains(out, `"versions":4`) || !strings.Contains(out, `"blobs":1`) {
		t.Errorf("it has read %s", out)
	}
	if !bytes.Equal(before, s.dumped()) {
		t.Error("the doctor has changed something")
	}
	if left, _ := filepath.Glob(filepath.Join(s.data, ".doctor*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	for _, damage := range []struct{ what, statement, back string }{
		{"version 1 of the state prod/app", "UPDATE state_bodies SET " + d.spoilt("bytes") +
			" WHERE number = 1 AND state = (SELECT id FROM state_heads WHERE name = 'prod/app')", ""},
		{"is counted wrong", "UPDATE state_usage SET bytes = bytes + 1", "UPDATE state_usage SET bytes = bytes - 1"},
		{"not as it was written", "UPDATE state_events SET address = '1.2.3.4' WHERE sequence = 1", ""},
		{"prod/other has a newest version that is not there",
			"UPDATE state_heads SET newest = newest + 100 WHERE name = 'prod/other'",
			"UPDATE state_heads SET newest = newest - 100 WHERE name = 'prod/other'"},
		{"bytes of nothing", "INSERT INTO state_bodies VALUES (1, 4711, 0, 'x')",
			"DELETE FROM state_bodies WHERE number = 4711"},
		{"the variable A", "UPDATE variables SET " + d.spoilt("sealed"), ""},
		{"is gone", "UPDATE state_log SET id = 2", "UPDATE state_log SET id = 1"},
		{"the schema of runs", "INSERT INTO run_schema (version_id, is_applied) VALUES (999, true)",
			"DELETE FROM run_schema WHERE version_id = 999"},
	} {
		s.doctorSays(d, damage.what, damage.statement)
		if damage.back != "" {
			alter(t, d, damage.back)
		}
	}
	if err := os.Rename(filepath.Join(s.data, "master.key"), filepath.Join(s.data, "lost")); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := s.run("doctor"); code != exitFailed || !strings.Contains(out, "master key") {
		t.Errorf("without the master key, exit %d: %s", code, out)
	}
}

// doctorSays damages the database, and wants the doctor to say so.
func (s *shell) doctorSays(d serverDatabase, want, statement string) {
	s.t.Helper()
	alter(s.t, d, statement)
	if code, out, errs := s.run("doctor"); code != exitFailed || !strings.Contains(out+errs, want) {
		s.t.Errorf("after %s: exit %d:\n%s%s", statement, code, out, errs)
	}
}

// spoilt sets a column of bytes to others.
func (d serverDatabase) spoilt(column string) string {
	if d.engine == configs.MySQL {
		return column + " = REVERSE(" + column + ")"
	}
	return column + " = set_byte(" + column + ", 9, 255 - get_byte(" + column + ", 9))"
}

// alter executes statements in the database, each of which has to change a row of it.
func alter(t testing.TB, d serverDatabase, statements ...string) {
	t.Helper()
	db, err := d.open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		result, err := db.ExecContext(t.Context(), statement)
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			t.Fatalf("%s: changes %d rows, %v", statement, n, err)
		}
	}
}

// counted returns when all that was written so far is counted and in the audit log: reading that moves the journal,
// which a node else does by and by.
func (s *shell) counted() {
	s.t.Helper()
	s.must("audit", "list", "--limit", "1")
}

// dumped is all that the database has.
func (s *shell) dumped() []byte {
	s.t.Helper()
	a := s.app(io.Discard, io.Discard)
	settings, err := configs.Load(configs.Sources{Environ: a.environ})
	if err != nil {
		s.t.Fatal(err)
	}
	dump, err := storage.OpenDump(s.t.Context(), settings, a.quietLog(settings))
	if err != nil {
		s.t.Fatal(err)
	}
	var text bytes.Buffer
	if err := errors.Join(dump.Write(s.t.Context(), &text), dump.Close()); err != nil {
		s.t.Fatal(err)
	}
	return text.Bytes()
}

// TestDoctorRepairsADatabase: with --repair the doctor makes anew what follows from the rest, also while a server goes
// on, says so, and leaves all else as it is; without it, it changes nothing.
func TestDoctorRepairsADatabase(t *testing.T) { eachEngine(t, checkDoctorRepairs) }

func checkDoctorRepairs(t *testing.T, engine string) {
	s, d, r := servedFromDatabase(t, engine)
	s.push("prod/app", network(1, "usual", "", ""))
	s.push("prod/gone", network(1, "usual", "", ""))
	s.must("state", "rm", "prod/gone", "--yes")
	s.must("doctor", "--repair") // nothing is wrong
	s.counted()
	alter(t, d, "UPDATE state_usage SET bytes = bytes - 100", "UPDATE state_log SET states = 9, locks = -1",
		"UPDATE state_heads SET is_deleted = 1 - is_deleted")
	if out := s.must("state", "list"); strings.Contains(out, "prod/app") {
		t.Errorf("lists miss nothing: %s", out)
	}
	found := func(args ...string) (int, string) {
		code, out, errs := s.run(append([]string{"doctor"}, args...)...)
		return code, out + errs
	}
	if code, out := found(); code != exitFailed || strings.Count(out, "holdfast doctor --repair") != 3 {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, _ := found(); code != exitFailed {
		t.Error("the doctor has repaired what it was not told to")
	}
	out := s.must("doctor", "--repair")
	for _, want := range []string{"use is counted anew", "locks are counted anew", "lists find all again"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q: %s", want, out)
		}
	}
	s.must("doctor")
	if out := s.must("state", "list"); !strings.Contains(out, "prod/app") || strings.Contains(out, "prod/gone") {
		t.Errorf("lists have %s", out)
	}
	r.stop()
	r.wait()
	alter(t, d, "UPDATE state_heads SET newest = newest + 100 WHERE name = 'prod/app'",
		"INSERT INTO state_bodies VALUES (1, 4711, 0, 'x')", "UPDATE state_usage SET bytes = bytes + 1")
	before := s.dumped()
	if code, _ := found(); code != exitFailed || !bytes.Equal(before, s.dumped()) {
		t.Errorf("exit %d, or it has changed something", code)
	}
	code, out := found("--repair")
	if code != exitFailed || !strings.Contains(out, "2 faults") || !strings.Contains(out, "counted anew") {
		t.Errorf("exit %d: %s", code, out)
	}
	alter(t, d, "UPDATE state_usage SET bytes = bytes + 1") // all else is as it was
	if !bytes.Equal(before, s.dumped()) {
		t.Error("the doctor has changed what a person has to decide about")
	}
}

// servedFromDatabase is an organization whose server keeps all in a database, where uploads are, too.
func servedFromDatabase(t *testing.T, engine string) (tenant, serverDatabase, *running) {
	t.Helper()
	s := newTenant(t)
	d := s.databaseOf(engine)
	s.environ = append(s.environ, allInDatabase(engine)...)
	s.beside()
	r := s.start(s.environ...)
	store := s.inDatabase()
	upload(t, store, someReports()...)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	s.asks(r)
	return s, d, r
}

// asks has commands ask a server.
func (o tenant) asks(r *running) {
	o.setenv("HOLDFAST_ADDR", "http://"+r.address)
	o.setenv("HOLDFAST_KEY", o.key.Key)
}
