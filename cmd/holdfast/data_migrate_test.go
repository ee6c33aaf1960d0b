package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
)

// database gives the shell's settings a database of the test's own.
func (s *shell) database() mysqltest.Database {
	s.t.Helper()
	suite.Deep(s.t)
	d := mysqltest.New(s.t)
	s.environ = append(d.Environ(), "DB_NAME="+d.Name)
	return d
}

// inDatabase opens the database as the commands do.
func (s *shell) inDatabase() inventory.Store {
	s.t.Helper()
	settings, err := configs.Load(configs.Sources{Environ: s.environ})
	if err != nil {
		s.t.Fatal(err)
	}
	store, err := newApp().open(s.t.Context(), settings, storage.OpenDatabase)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = store.Close() })
	return store
}

func TestMigrate(t *testing.T) {
	s := newShell(t)
	s.database()
	from := s.folder(append(manyReports(100),
		report(acme, time.Hour, "=f(\"x\"),\r\n ü", `{"a":{"b":[1e30,-0.0,"\u0041"]},"z":null}`))...)
	migrate := []string{"data", "migrate", "--from", "csv", "--to", "mysql"}
	want := regexp.MustCompile(`(?m)^` + someOrg +
		`  0        101     101     101     ([0-9a-f]{16})  ([0-9a-f]{16})  equal$`)
	if out := s.must(append(migrate, "--wide")...); !want.MatchString(out) || strings.Count(out, "\n") != 3 {
		t.Errorf("printed\n%s", out)
	}
	if got, want := extentsOf(t, s.inDatabase()), s.extents(from); got != want {
		t.Errorf("the database has\n%swant\n%s", got, want)
	}
	if out := s.must(append(migrate, "--wide")...); !strings.Contains(out, someOrg+"  101      0 ") {
		t.Errorf("the second time it printed\n%s", out)
	}
	// And back, into another folder.
	back := filepath.Join(t.TempDir(), "data")
	s.environ = append([]string{"STORAGE_PATH=" + back}, s.environ...)
	s.must("data", "migrate", "--from", "mysql", "--to", "csv")
	if got, want := s.extents(back), s.extents(from); got != want {
		t.Errorf("the other folder has\n%swant\n%s", got, want)
	}
}

func TestMigrateDryRun(t *testing.T) {
	s := newShell(t)
	s.database()
	s.folder(manyReports(10)...)
	var result struct {
		From, To      string
		DryRun        bool `json:"dry_run"`
		Organizations []move
	}
	out := s.must("data", "migrate", "--from", "csv", "--to", "dual", "--dry-run", "--json", "--org", someOrg)
	if err := json.Unmarshal([]byte(out), &result); err != nil || !result.DryRun || result.To != "dual" ||
		len(result.Organizations) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	if o := result.Organizations[0]; o.Org != acme || o.Added != 10 || o.Source.Count != 10 || o.Target.Count != 0 ||
		o.Result != "would be copied" || len(o.Source.SHA256) != 64 {
		t.Errorf("printed %s", out)
	}
	if got := extentsOf(t, s.inDatabase()); got != "" {
		t.Errorf("the database has\n%s", got)
	}
}

// Scenario: migrations are interrupted at any point. Check: in the end both sides are equal.
func TestMigrateContinues(t *testing.T) {
	s := newShell(t)
	s.database()
	from := s.folder(manyReports(300)...)
	migrate := []string{"data", "migrate", "--from", "csv", "--to", "dual"}
	for _, after := range []time.Duration{300, 500, 700, 900} {
		ctx, cancel := context.WithTimeout(t.Context(), after*time.Millisecond)
		a := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, environ: s.environ, now: time.Now}
		code := run(ctx, migrate, a)
		cancel()
		t.Logf("after %d ms: exit %d, the database has\n%s", after, code, extentsOf(t, s.inDatabase()))
	}
	if out := s.must(migrate...); strings.Count(out, "  equal\n") != 2 {
		t.Errorf("printed\n%s", out)
	}
	if got, want := extentsOf(t, s.inDatabase()), s.extents(from); got != want {
		t.Errorf("the database has\n%swant\n%s", got, want)
	}
}

// What else the target holds is never touched, and nothing is added to it.
func TestMigrateRefusesOtherRecords(t *testing.T) {
	s := newShell(t)
	s.database()
	s.folder(someReports()...)
	target := s.inDatabase()
	upload(t, target, report(acme, -time.Hour, "older", `{}`))
	before := extentsOf(t, target)
	migrate := []string{"data", "migrate", "--from", "csv", "--to", "mysql"}
	code, out, errs := s.run(migrate...)
	if code != exitFailed || !strings.Contains(errs, "nothing was copied: 1 of 2 organizations failed") ||
		!strings.Contains(errs, someOrg+": the store holds other records: of organization "+someOrg+
			" it has vm_instance older at 2026-01-31T11") || !strings.Contains(out, "failed\n") {
		t.Errorf("exit %d, printed\n%s%s", code, out, errs)
	}
	if after := extentsOf(t, target); after != before {
		t.Errorf("the database has\n%s, had\n%s", after, before)
	}
	s.must(append(migrate, "--org", globex.String())...)
	upload(t, target, inventory.Batch{ID: "x", Org: [16]byte{1}, At: moment,
		Resources: report(acme, 0, "x", `{}`).Resources})
	s.refuse(exitFailed, "the target has records of organization 01000000-", migrate...)
}

func TestMigrateUsage(t *testing.T) {
	s := newShell(t)
	for _, args := range []string{"", "--from csv", "--from csv --to csv", "--from dual --to mysql",
		"--from mysql --to dual", "--from postgres --to dual", "--from mysql --to postgres"} {
		s.refuse(exitUsage, "migrate goes --from csv --to mysql",
			append([]string{"data", "migrate"}, strings.Fields(args)...)...)
	}
	s.refuse(exitUsage, "postgres is what DATABASE_URL ([database] url) names, and it is not set",
		"data", "migrate", "--from", "csv", "--to", "postgres")
	s.environ = []string{"DATABASE_URL=postgres://ada:secret@127.0.0.1:9/x"}
	s.refuse(exitUsage, "names a database of PostgreSQL: say postgres",
		"data", "migrate", "--from", "mysql", "--to", "csv")
	s.environ = []string{"STORAGE_PATH=" + t.TempDir() + "/nowhere"}
	s.refuse(exitFailed, "storage.path (STORAGE_PATH) is ", "data", "migrate", "--from", "csv", "--to", "mysql")
	dir := s.folder(someReports()...)
	s.environ = []string{"STORAGE_PATH=" + dir, "DB_HOST=127.0.0.1", "DB_PORT=9", "HOLDFAST_DATABASE_STARTUP_WAIT=1ms"}
	code, _, errs := s.run("data", "migrate", "--from", "csv", "--to", "mysql")
	if code != exitFailed || !strings.Contains(errs, "connection refused") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// altered is a target that stores something else than it was given.
type altered struct{ inventory.Store }

func (a altered) Append(ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
	batch.Resources[0].ResourceName += "!"
	return a.Store.Append(ctx, batch)
}

func (a altered) AppendAll(ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
	return inventory.AppendEach(ctx, a, batches)
}

func TestMigrationNoticesDifferences(t *testing.T) {
	s := newShell(t)
	m := &migration{a: &app{stderr: io.Discard}, from: reports(t), to: altered{s.openCSV(t.TempDir())}}
	defer m.to.Close()
	m.moves = []*move{{Org: acme}}
	err := m.run(t.Context())
	if err == nil || m.moves[0].Result != moveDiffers || m.moves[0].Source == m.moves[0].Target {
		t.Errorf("%v: %+v", err, *m.moves[0])
	}
	if text := fmt.Sprint(err); text != "1 of 1 organization failed" {
		t.Errorf("%s", text)
	}
}
