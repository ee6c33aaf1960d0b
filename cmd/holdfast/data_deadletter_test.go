package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/dual"
)

// picky is a database that refuses resources of this name.
type picky struct {
	inventory.Store
	name string
}

func (p picky) Append(ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
	if batch.Resources[0].ResourceName == p.name {
		return inventory.Receipt{}, fault.New(fault.BodyTooLarge, "the upload is larger than the database takes")
	}
	return p.Store.Append(ctx, batch)
}

func (p picky) AppendAll(ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
	return inventory.AppendEach(ctx, p, batches)
}

// withDeadLetters gives the shell a dual store in which Acme has four uploads, of which the
// database has refused two.
func (s *shell) withDeadLetters() {
	s.t.Helper()
	s.engine(configs.Dual)
	dir := s.environ[len(s.environ)-1][len("STORAGE_PATH="):]
	store, err := dual.Open(s.t.Context(),
		dual.Options{Dir: dir, CSV: s.openCSV(dir), MySQL: picky{s.inDatabase(), "large"}})
	if err != nil {
		s.t.Fatal(err)
	}
	upload(s.t, store, report(acme, 0, "web-1", `{}`), report(acme, time.Hour, "large", `{"n":1}`),
		report(acme, 2*time.Hour, "web-2", `{}`),
		report(acme, 3*time.Hour, "large", `{"n":2}`))
	for deadline := time.Now().
		Add(20 * time.Second); store.DeadLetterCounts()["mysql"] < 2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatal("the batches do not become dead letters")
		}
	}
	if err := store.Close(); err != nil {
		s.t.Fatal(err)
	}
}

func TestDeadLetters(t *testing.T) {
	s := newShell(t)
	s.withDeadLetters()
	var letters []dual.DeadLetter
	if err := json.Unmarshal([]byte(s.must("data", "deadletter", "list", "--json")), &letters); err != nil {
		t.Fatal(err)
	}
	if len(letters) != 2 || letters[0].Number != 1 || letters[0].Org != acme || letters[0].Side != "mysql" ||
		!letters[0].At.Equal(moment.Add(time.Hour)) {
		t.Errorf("dead letters %+v", letters)
	}
	if out := s.must("data", "deadletter", "list", "--wide"); strings.Count(out, "\n") != 3 ||
		!strings.Contains(out, "2026-01-31T15:00:00.000000Z  1        body_too_large: the upload") {
		t.Errorf("printed\n%s", out)
	}
	if out := s.must("data", "deadletter", "export", "2", "--format", "ndjson"); !strings.Contains(out,
		`"resource_name":"large","attributes":{"n":2}`) || strings.Count(out, "\n") != 1 {
		t.Errorf("exported\n%s", out)
	}
	file := filepath.Join(t.TempDir(), "one.csv")
	s.must("data", "deadletter", "export", "1", "-o", file)
	if text, err := os.ReadFile(file); err != nil || strings.Count(string(text), "\r\n") != 2 {
		t.Errorf("%v: exported\n%s", err, text)
	}
	if out := s.must("data", "compare"); !strings.Contains(out, "behind\n") {
		t.Errorf("compare printed\n%s", out)
	}
	s.refuse(exitUsage, "confirm with --yes", "data", "deadletter", "discard", "1")
	if out := s.must("data", "deadletter", "discard", "1", "--yes"); out != "Discarded 1 dead letter.\n" {
		t.Errorf("printed %s", out)
	}
	code, out, errs := s.run("data", "deadletter", "retry", "1", "2", "--json")
	if code != exitFailed || !strings.Contains(errs, "1 dead letter failed") ||
		!strings.Contains(out, `"there is no dead letter 1"`) ||
		!strings.Contains(out, `"timestamp": "2026-01-31T15:00:00Z"`) {
		t.Errorf("exit %d, printed\n%s%s", code, out, errs)
	}
	if out := s.must("data", "deadletter", "list", "--json"); out != "[]\n" {
		t.Errorf("printed %s", out)
	}
	// What was discarded is known to be missing, and no difference.
	code, out, errs = s.run("data", "compare", "--json")
	var compared struct {
		Differing     int
		Organizations []dual.Comparison
	}
	if err := json.Unmarshal([]byte(out), &compared); err != nil || code != exitOK || compared.Differing != 0 {
		t.Fatalf("exit %d, %v, printed\n%s%s", code, err, out, errs)
	}
	if c := compared.Organizations[0]; c.CSV.Records != 4 || c.MySQL.Records != 3 || c.MySQL.Refused != 1 ||
		c.CSV.Refused != 0 {
		t.Errorf("%+v", c)
	}
	if out := s.must("data", "compare"); !strings.Contains(out, "behind\n") {
		t.Errorf("printed\n%s", out)
	}
}

func TestDeadLetterUsage(t *testing.T) {
	s := newShell(t)
	for _, args := range []string{"retry", "retry 1 --all", "discard", "retry x", "export 0", "export 1 --format xml",
		"export"} {
		code, out, errs := s.run(append([]string{"data", "deadletter"}, strings.Fields(args)...)...)
		if code != exitUsage || out != "" {
			t.Errorf("%s: exit %d, %s%s", args, code, out, errs)
		}
	}
}
