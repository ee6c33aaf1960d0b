package mysqldump_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/dump"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/mysqldump"
	"github.com/holdfast/holdfast/storage/states"
)

func TestMain(m *testing.M) { os.Exit(mysqltest.Main(m)) }

func optionsFor(t *testing.T, d mysqltest.Database) mysqldb.Options {
	t.Helper()
	o, err := mysqldb.Options{Host: d.Host, Port: d.Port, User: d.User, Password: d.Password, Name: d.Name,
		TLS: mysqldb.TLSOff, Log: slog.New(slog.DiscardHandler)}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func openStates(t *testing.T, o mysqldb.Options, master *seal.Master) *states.Store {
	t.Helper()
	s, err := states.Open(context.Background(), states.Options{MySQL: &o, Log: o.Log, Master: master})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newMaster(t *testing.T) *seal.Master {
	t.Helper()
	path := filepath.Join(t.TempDir(), "master.key")
	if err := seal.CreateMasterFile(path); err != nil {
		t.Fatal(err)
	}
	master, err := seal.ReadMasterFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return master
}

// put writes a version with an entry of the audit log.
func put(t *testing.T, s state.Store, ref state.Ref, body string) {
	t.Helper()
	_, err := s.Update(t.Context(), ref, []byte(body), func(h state.Head) (state.Change, error) {
		v := state.Version{Number: h.Version.Number + 1, Size: int64(len(body)), Digest: sha256.Sum256([]byte(body))}
		return state.Change{Version: &v, Events: []audit.Event{{Action: audit.StateWrite, Note: "naïve \x00 'text'"}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRoundTrip backs a sealed store up while it is written to, and opens what was loaded elsewhere: it is what it was
// when the moment was fixed, with its chains.
func TestRoundTrip(t *testing.T) {
	suite.Deep(t)
	from, to, master := optionsFor(t, mysqltest.New(t)), optionsFor(t, mysqltest.New(t)), newMaster(t)
	s := openStates(t, from, master)
	ref := state.Ref{Org: uuid.New(), Name: "prod/network"}
	large := strings.Repeat(`"naïve \u0000 planted",`, 200_000) // of several pieces
	bodies := []string{"{}", `{"a":[` + large + `1]}`, `{"b":[` + large + `2]}`}
	for _, body := range bodies {
		put(t, s, ref, body)
	}
	if _, _, err := s.Chain(t.Context(), ref.Org, 0, 1); err != nil { // all entries are in the log by then
		t.Fatal(err)
	}
	moment, err := mysqldump.Open(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, ref, "{\"later\":1}")
	var text bytes.Buffer
	if err := errors.Join(moment.Write(t.Context(), &text), moment.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text.Bytes(), []byte("planted")) {
		t.Error("a sealed body is plain in the dump")
	}
	half := bytes.NewReader(text.Bytes()[:text.Len()/2])
	if err := mysqldump.Load(t.Context(), to, half, dump.Rest{}); err == nil {
		t.Error("half a dump was loaded")
	}
	if got := tables(t, to, "NOT LIKE 'restoring%'"); got != 0 {
		t.Fatalf("%d tables of half a dump are there", got)
	}
	if err := mysqldump.Load(t.Context(), to, bytes.NewReader(text.Bytes()), dump.Rest{}); err != nil {
		t.Fatal(err)
	}
	if got := tables(t, to, "LIKE 'restoring%'"); got != 0 {
		t.Errorf("%d tables of the load before are left", got)
	}
	if err := mysqldump.Load(t.Context(), to, bytes.NewReader(text.Bytes()), dump.Rest{}); err == nil {
		t.Error("a database that is not empty was loaded into")
	}
	r := openStates(t, to, master)
	defer r.Close()
	for i, want := range bodies {
		got, err := r.Version(t.Context(), ref, uint64(i+1))
		if err != nil || string(got.Body) != want {
			t.Errorf("version %d has %d bytes, %v; want %d", i+1, len(got.Body), err, len(want))
		}
	}
	head, err := r.Head(t.Context(), ref)
	if err != nil || head.Version.Number != uint64(len(bodies)) {
		t.Errorf("the newest is %d, %v: not of the moment", head.Version.Number, err)
	}
	verdict, err := audit.Verify(t.Context(), r, ref.Org, audit.Check{Limit: 100})
	if err != nil || len(verdict.Breaks) > 0 || verdict.Checked != len(bodies) {
		t.Errorf("%+v, %v", verdict, err)
	}
	put(t, r, ref, "{\"on\":1}")
}

func tables(t *testing.T, o mysqldb.Options, which string) (n int) {
	t.Helper()
	db, err := o.OpenPool(o.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.QueryRowContext(t.Context(), fmt.Sprintf(`SELECT COUNT(*) FROM information_schema.tables
		WHERE table_schema = DATABASE() AND table_name %s`, which)).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestDamagedDumps: what is no dump, or not all of one, leaves an empty database empty.
func TestDamagedDumps(t *testing.T) {
	suite.Deep(t)
	o := optionsFor(t, mysqltest.New(t))
	const head = "holdfast dump 2\n{\"server\":\"mysql\"}\n"
	const whole = head + "{\"name\":\"x\",\"create\":\"CREATE TABLE `x` (a INT)\",\"columns\":[{\"name\":\"a\"}]}\n\x00"
	for _, text := range []string{"", "holdfast dump 1\n", "holdfast dump 2\n", head, head + "{}\n\x00",
		head + "{\"end\":0}\n", whole, whole + "{\"end\":2}\n",
		strings.Replace(whole, "CREATE TABLE `x` (a INT)", "DROP DATABASE x", 1) + "{\"end\":1}\n"} {
		if err := mysqldump.Load(t.Context(), o, io.NopCloser(strings.NewReader(text)), dump.Rest{}); err == nil {
			t.Errorf("%q was loaded", text)
		}
	}
	other := "holdfast dump 2\n{\"server\":\"postgres\"}\n"
	err := mysqldump.Load(t.Context(), o, strings.NewReader(other), dump.Rest{})
	if err == nil || !strings.Contains(err.Error(), "holdfast migrate --from postgres --to sqlite") {
		t.Errorf("a dump of another server: %v", err)
	}
	if got := tables(t, o, "NOT LIKE 'restoring%'"); got != 0 {
		t.Errorf("%d tables are there", got)
	}
	// What those that ended in the middle have left, the next one removes.
	if err := mysqldump.Load(t.Context(), o, strings.NewReader(whole+"{\"end\":1}\n"), dump.Rest{}); err != nil {
		t.Error(err)
	}
	if got := tables(t, o, "LIKE '%'"); got != 1 {
		t.Errorf("%d tables are there", got)
	}
}

// TestTablesStayAsTheyAre: who changes a table waits for the backup that has begun, and one that begins waits for who
// changes them.
func TestTablesStayAsTheyAre(t *testing.T) {
	suite.Deep(t)
	o := optionsFor(t, mysqltest.New(t))
	s := openStates(t, o, newMaster(t))
	defer s.Close()
	moment, err := mysqldump.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	db, err := o.OpenPool(o.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	changed := make(chan error, 1)
	go func() {
		_, err := db.ExecContext(context.Background(), "ALTER TABLE state_lock_ids ADD COLUMN more INT NULL")
		changed <- err
	}()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE newer (a INT)"); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := errors.Join(moment.Write(t.Context(), &text), moment.Close()); err != nil {
		t.Fatal(err)
	}
	if err := <-changed; err != nil {
		t.Error(err)
	}
	if strings.Contains(text.String(), "`more`") || strings.Contains(text.String(), "`newer`") {
		t.Error("what came after the moment is in the dump")
	}
}

// TestTableGoes: a table that is removed while a moment is begun is not in it.
func TestTableGoes(t *testing.T) {
	suite.Deep(t)
	o := optionsFor(t, mysqltest.New(t))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(openStates(t, o, newMaster(t)).Close())
	db, err := o.OpenPool(o.Name)
	must(err)
	defer db.Close()
	conn, err := db.Conn(t.Context())
	must(err)
	defer conn.Close()
	for _, statement := range []string{"CREATE TABLE org_a (a INT)", "LOCK TABLES org_a WRITE"} {
		_, err := conn.ExecContext(t.Context(), statement)
		must(err)
	}
	var text bytes.Buffer
	taken := make(chan error, 1)
	go func() {
		m, err := mysqldump.Open(t.Context(), o)
		if err == nil {
			err = errors.Join(m.Write(t.Context(), &text), m.Close())
		}
		taken <- err
	}()
	for waiting := 0; waiting+len(taken) == 0; time.Sleep(5 * time.Millisecond) {
		must(db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND "+
			"state LIKE 'Waiting for table%'").Scan(&waiting))
	}
	_, err = conn.ExecContext(t.Context(), "DROP TABLE org_a")
	must(errors.Join(err, <-taken))
	if !strings.Contains(text.String(), "state_heads") || strings.Contains(text.String(), "org_a") {
		t.Error("the dump has not what was left")
	}
}
