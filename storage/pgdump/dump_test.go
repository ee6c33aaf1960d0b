package pgdump_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/dump"
	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
	"github.com/holdfast/holdfast/storage/pgdump"
	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/sqldb"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m.Run)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func optionsFor(url string) pgdb.Options {
	return pgdb.Options{URL: url, Log: slog.New(slog.DiscardHandler)}
}

func openRuns(t *testing.T, o pgdb.Options) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{Postgres: &o})
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func runs() []schema.Schema { return []schema.Schema{sqldb.Schema(sqldb.Postgres)} }

func side(t *testing.T, db *sqldb.DB) moving.Side {
	t.Helper()
	shapes, err := db.Shapes(t.Context())
	must(t, err)
	return moving.Side{Database: db, Shapes: shapes}
}

// fill adds rows of any values to each table.
func fill(t *testing.T, s moving.Side) {
	t.Helper()
	for _, shape := range s.Shapes {
		for n := range 5 {
			var row moving.Row
			columns := slices.Concat(shape.Key, shape.Rest)
			if shape.Body != "" {
				columns = append(columns, moving.Column{Name: shape.Body, Kind: moving.Bytes})
			}
			for _, c := range columns {
				bytes := make([]byte, 24)
				_, _ = rand.Read(bytes)
				switch {
				case c.Kind == moving.Int:
					row = append(row, int64(n)<<40|int64(bytes[0]))
				case c.Kind == moving.Text:
					row = append(row, []byte("naïve\t\\N\n"+rand.Text()))
				case c.Name == shape.Body && n == 0:
					row = append(row, slices.Repeat(bytes, sqldb.MaxRow/len(bytes)))
				default:
					row = append(row, append([]byte{0, 255}, bytes...))
				}
			}
			must(t, s.Change(t.Context(), 0, func(tx moving.Tx) error { return shape.InsertInto(tx, row) }))
		}
	}
}

// written is a dump of all that is there.
func written(t *testing.T, o pgdb.Options, schemas []schema.Schema) []byte {
	t.Helper()
	m, err := pgdump.Open(t.Context(), o, schemas)
	must(t, err)
	var text bytes.Buffer
	must(t, errors.Join(m.Write(t.Context(), &text), m.Close()))
	return text.Bytes()
}

func tables(t *testing.T, o pgdb.Options) (all []string) {
	t.Helper()
	must(t, asked(t, o, func(q moving.Querier) (err error) {
		all, err = dump.Texts(q, "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()")
		return err
	}))
	return all
}

func asked(t *testing.T, o pgdb.Options, fn func(moving.Querier) error) error {
	t.Helper()
	db, err := o.Plain(pgdb.AsTexts, nil).Open()
	must(t, err)
	defer db.Close()
	conn, err := db.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	return fn(sqldb.OnConn(t.Context(), conn, sqldb.Postgres))
}

// TestRoundTrip backs up a database that is written to meanwhile, and loads what it was when the moment was fixed.
func TestRoundTrip(t *testing.T) {
	from, to := optionsFor(pgtest.New(t)), optionsFor(pgtest.New(t))
	db := openRuns(t, from)
	source := side(t, db)
	fill(t, source)
	want, err := moving.Measure(t.Context(), source, true, func(string, int, int) {})
	must(t, err)
	m, err := pgdump.Open(t.Context(), from, runs())
	must(t, err)
	fill(t, source)
	var text bytes.Buffer
	must(t, m.Write(t.Context(), &text))
	must(t, m.Close())
	must(t, pgdump.Load(t.Context(), to, runs(), &text, dump.Rest{}))
	loaded := openRuns(t, to)
	got, err := moving.Measure(t.Context(), side(t, loaded), true, func(string, int, int) {})
	must(t, err)
	if !slices.Equal(want, got) {
		t.Errorf("there was\n%v, and now is\n%v", want, got)
	}
	must(t, loaded.Ready(t.Context()))
	fill(t, side(t, loaded))
}

// TestCutDumps: what is no dump, or not all of one, leaves an empty database empty.
func TestCutDumps(t *testing.T) {
	suite.Deep(t)
	from, to := optionsFor(pgtest.New(t)), optionsFor(pgtest.New(t))
	fill(t, side(t, openRuns(t, from)))
	text := written(t, from, runs())
	end := bytes.LastIndex(text, []byte(`{"end":`))
	last := bytes.LastIndex(text, []byte("\x00{\"name\":")) + 1
	for _, n := range []int{0, 5, 16, 30, last, last + 1, end - 1, end, len(text) - 1, len(text) / 2, len(text) / 3} {
		err := pgdump.Load(t.Context(), to, runs(), bytes.NewReader(text[:n]), dump.Rest{})
		if !errors.Is(err, dump.ErrDamaged) {
			t.Errorf("%d of %d bytes: %v", n, len(text), err)
		}
	}
	// One that has an end, and not all.
	var n int
	_, err := fmt.Sscanf(string(text[end:]), `{"end":%d}`, &n)
	must(t, err)
	less := fmt.Appendf(slices.Clone(text[:last]), `{"end":%d}`+"\n", n-1)
	err = pgdump.Load(t.Context(), to, runs(), bytes.NewReader(less), dump.Rest{})
	if !errors.Is(err, dump.ErrDamaged) || !strings.Contains(err.Error(), "has no table") {
		t.Errorf("without a table: %v", err)
	}
	failing := io.MultiReader(bytes.NewReader(text[:len(text)/2]), failingReader{})
	if err := pgdump.Load(t.Context(), to, runs(), failing, dump.Rest{}); !errors.Is(err, errReader) {
		t.Errorf("a reader that fails: %v", err)
	}
	half := len(text) / 2
	killed := io.MultiReader(bytes.NewReader(text[:half]), killingReader{to.URL}, bytes.NewReader(text[half:]))
	if err := pgdump.Load(t.Context(), to, runs(), killed, dump.Rest{}); err == nil {
		t.Error("it was loaded though its connection was ended")
	}
	if left := tables(t, to); len(left) > 0 {
		t.Fatalf("they have left %v", left)
	}
	must(t, pgdump.Load(t.Context(), to, runs(), bytes.NewReader(text), dump.Rest{}))
	err = pgdump.Load(t.Context(), to, runs(), bytes.NewReader(text), dump.Rest{})
	if err == nil || !strings.Contains(err.Error(), "is not empty: it has a table") ||
		!strings.Contains(err.Error(), "Name an empty one") {
		t.Errorf("a database that is not empty: %v", err)
	}
}

var errReader = errors.New("the disk is gone")

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errReader }

// killingReader has nothing, and ends the connections of a database.
type killingReader struct{ url string }

func (r killingReader) Read([]byte) (int, error) {
	if err := pgtest.Exec(context.Background(), r.url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "+
		"datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

// steps is a schema of one table that has its rows numbered.
func steps(name string, more ...string) schema.Schema {
	files := fstest.MapFS{"migrations/00100_a.sql": {Data: fmt.Appendf(nil, "-- +goose Up\nCREATE TABLE %s (id BIGINT "+
		"GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a TEXT, twice TEXT GENERATED ALWAYS AS (a || a) STORED);\n", name)}}
	for i, one := range more {
		files[fmt.Sprintf("migrations/%05d_b.sql", 101+i)] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + one + "\n")}
	}
	return schema.Schema{Steps: files, Dialect: goose.DialectPostgres, Table: name + "_schema", Of: "database of " + name}
}

func migrate(t *testing.T, o pgdb.Options, s schema.Schema) {
	t.Helper()
	must(t, o.Migrate(t.Context(), s))
}

// TestNumbersGoOn: rows that are added after a load are numbered behind all that were there before, also those that
// were deleted.
func TestNumbersGoOn(t *testing.T) {
	suite.Deep(t)
	from, to, things := optionsFor(pgtest.New(t)), optionsFor(pgtest.New(t)), steps("things")
	migrate(t, from, things)
	for _, statement := range []string{"INSERT INTO things (a) VALUES ('x'), ('y'), ('z')",
		"DELETE FROM things WHERE a = 'z'"} {
		must(t, pgtest.Exec(t.Context(), from.URL, statement))
	}
	must(t, pgdump.Load(t.Context(), to, []schema.Schema{things},
		bytes.NewReader(written(t, from, []schema.Schema{things})), dump.Rest{}))
	must(t, pgtest.Exec(t.Context(), to.URL, "INSERT INTO things (a) VALUES ('w')"))
	must(t, asked(t, to, func(q moving.Querier) error {
		all, err := dump.Texts(q, "SELECT id || twice FROM things ORDER BY id")
		if !slices.Equal(all, []string{"1xx", "2yy", "4ww"}) {
			t.Errorf("there are %v", all)
		}
		return err
	}))
	migrate(t, to, steps("things", "ALTER TABLE things ADD COLUMN b TEXT;")) // whose note is numbered, too
}

// furnished is steps("things") with tables of its own that are called heap_ and a letter.
func furnished() schema.Schema {
	s := steps("things")
	s.Further = func(table string) []string {
		if !strings.HasPrefix(table, "heap_") {
			return nil
		}
		return []string{"CREATE TABLE IF NOT EXISTS " + table +
			" (id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, a TEXT)",
			"CREATE INDEX IF NOT EXISTS " + table + "_a ON " + table + " (a)"}
	}
	return s
}

// TestTablesWithoutSteps: tables that servers make as they need them are backed up, and made by the load as the schema
// says, where the dump has that schema. All others are refused.
func TestTablesWithoutSteps(t *testing.T) {
	suite.Deep(t)
	from, to, things := optionsFor(pgtest.New(t)), optionsFor(pgtest.New(t)), furnished()
	migrate(t, from, things)
	for _, table := range []string{"heap_a", "heap_b"} {
		for _, statement := range append(things.Further(table), "INSERT INTO "+table+" (a) VALUES ('x'), ('y'), ('z')",
			"DELETE FROM "+table+" WHERE a = 'z'") {
			must(t, pgtest.Exec(t.Context(), from.URL, statement))
		}
	}
	schemas := []schema.Schema{things, sqldb.Schema(sqldb.Postgres)}
	text := written(t, from, schemas)
	first, second := bytes.Index(text, []byte(`{"name":"heap_a"`)), bytes.Index(text, []byte(`{"name":"heap_b"`))
	for what, damaged := range map[string][]byte{
		"one twice":       bytes.ReplaceAll(text, []byte("heap_b"), []byte("heap_a")),
		"one of nobody's": bytes.Replace(text, []byte(`{"name":"heap_b"`), []byte(`{"name":"pile_b"`), 1),
		"one that is cut": append(slices.Clone(text[:first+30]), text[second:]...),
	} {
		err := pgdump.Load(t.Context(), to, schemas, bytes.NewReader(damaged), dump.Rest{})
		if !errors.Is(err, dump.ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if left := tables(t, to); len(left) > 0 {
		t.Fatalf("they have left %v", left)
	}
	must(t, pgdump.Load(t.Context(), to, schemas, bytes.NewReader(text), dump.Rest{}))
	for _, statement := range append(things.Further("heap_a"), "INSERT INTO heap_a (a) VALUES ('w')") {
		must(t, pgtest.Exec(t.Context(), to.URL, statement))
	}
	must(t, asked(t, to, func(q moving.Querier) error {
		all, err := dump.Texts(q, "SELECT id || a FROM heap_a ORDER BY id")
		indexes, failed := dump.Texts(q, "SELECT indexname FROM pg_indexes WHERE tablename LIKE 'heap_%' ORDER BY 1")
		if !slices.Equal(all, []string{"1x", "2y", "4w"}) ||
			!slices.Equal(indexes, []string{"heap_a_a", "heap_a_pkey", "heap_b_a", "heap_b_pkey"}) {
			t.Errorf("there are %v, with %v", all, indexes)
		}
		return errors.Join(err, failed)
	}))
	// Without the schema they are nobody's, whatever their names.
	other := optionsFor(pgtest.New(t))
	openRuns(t, other)
	must(t, pgtest.Exec(t.Context(), other.URL, "CREATE TABLE heap_c (a TEXT)"))
	m, err := pgdump.Open(t.Context(), other, schemas)
	must(t, err)
	defer m.Close()
	if err := m.Write(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), `ALTER TABLE "heap_c"`) {
		t.Errorf("a table of others: %v", err)
	}
}

// TestTableGoes: a table that is removed while a moment is begun is not in it.
func TestTableGoes(t *testing.T) {
	suite.Deep(t)
	from, things := optionsFor(pgtest.New(t)), []schema.Schema{furnished()}
	migrate(t, from, things[0])
	must(t, pgtest.Exec(t.Context(), from.URL, things[0].Further("heap_a")[0]))
	db, err := from.Plain(pgdb.AsTexts, nil).Open()
	must(t, err)
	defer db.Close()
	conn, err := db.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	for _, statement := range []string{"BEGIN", "DROP TABLE heap_a"} {
		_, err := conn.ExecContext(t.Context(), statement)
		must(t, err)
	}
	var text bytes.Buffer
	taken := make(chan error, 1)
	go func() {
		m, err := pgdump.Open(t.Context(), from, things)
		if err == nil {
			err = errors.Join(m.Write(t.Context(), &text), m.Close())
		}
		taken <- err
	}()
	for waiting := 0; waiting+len(taken) == 0; time.Sleep(5 * time.Millisecond) {
		must(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "+
			"AND wait_event_type = 'Lock'").Scan(&waiting))
	}
	_, err = conn.ExecContext(t.Context(), "COMMIT")
	must(t, errors.Join(err, <-taken))
	if !strings.Contains(text.String(), `{"name":"things"`) || strings.Contains(text.String(), "heap_a") {
		t.Error("the dump has not what was left")
	}
}

// TestRefusals: each says what to do, and nothing is left of it.
func TestRefusals(t *testing.T) {
	suite.Deep(t)
	from, to, things := optionsFor(pgtest.New(t)), optionsFor(pgtest.New(t)), steps("things")
	if _, err := pgdump.Open(t.Context(), optionsFor(pgtest.At(from.URL, "nowhere")), runs()); err == nil {
		t.Error("there is no such database")
	}
	empty, err := pgdump.Open(t.Context(), from, runs())
	must(t, err)
	if err := empty.Write(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "nothing to back up") {
		t.Errorf("an empty one: %v", err)
	}
	must(t, empty.Close())
	migrate(t, from, things)
	text := written(t, from, []schema.Schema{things})
	newer := steps("things", "SELECT 1;")
	for want, schemas := range map[string][]schema.Schema{
		"is at 100, and this program knows 101: load it with the holdfast that made the backup": {newer},
		"a part that this program does not know (things_schema)":                                runs(),
	} {
		if err := pgdump.Load(t.Context(), to, schemas, bytes.NewReader(text), dump.Rest{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
	other := "holdfast dump 2\n{\"server\":\"mysql\"}\n"
	err = pgdump.Load(t.Context(), to, runs(), strings.NewReader(other), dump.Rest{})
	if err == nil || !strings.Contains(err.Error(), "holdfast migrate --from mysql --to sqlite") {
		t.Errorf("a dump of another server: %v", err)
	}
	if left := tables(t, to); len(left) > 0 {
		t.Errorf("they have left %v", left)
	}
	must(t, pgtest.Exec(t.Context(), from.URL, "CREATE TABLE somebodys (a INT)"))
	m, err := pgdump.Open(t.Context(), from, []schema.Schema{things}, "others")
	must(t, err)
	defer m.Close()
	if err := m.Write(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "ALTER TABLE \"somebodys\"") {
		t.Errorf("a table of others: %v", err)
	}
	// A question that fails is not the end of the moment.
	ask := func(query string) error {
		return m.Look(t.Context(), func(q moving.Querier) error {
			_, err := dump.Texts(q, query)
			return err
		})
	}
	if err := ask("SELECT no"); err == nil {
		t.Error("there is no such column")
	}
	must(t, ask("SELECT a FROM things"))
}

// TestTablesStayAsTheyAre: who changes a table waits for the backup that has begun.
func TestTablesStayAsTheyAre(t *testing.T) {
	suite.Deep(t)
	from, things := optionsFor(pgtest.New(t)), []schema.Schema{steps("things")}
	migrate(t, from, things[0])
	m, err := pgdump.Open(t.Context(), from, things)
	must(t, err)
	changed := make(chan error, 1)
	go func() {
		changed <- pgtest.Exec(context.Background(), from.URL, "ALTER TABLE things ADD COLUMN later TEXT")
	}()
	must(t, pgtest.Exec(t.Context(), from.URL, "CREATE TABLE newer (a INT)"))
	var text bytes.Buffer
	must(t, errors.Join(m.Write(t.Context(), &text), m.Close()))
	must(t, <-changed)
	if strings.Contains(text.String(), `"later"`) || strings.Contains(text.String(), `"newer"`) {
		t.Error("what came after the moment is in the dump")
	}
}

const marks = "marks"

// rest is one that does something, and is marked meanwhile.
func rest(do func(context.Context) error) dump.Rest {
	return dump.Rest{Table: marks, Make: "(mark TEXT PRIMARY KEY)", Do: do,
		Mark: func(tx sqldb.Tx, table string) error {
			_, err := tx.Exec("INSERT INTO "+table+" VALUES (?)", "loading")
			return err
		},
		Marked: func(q moving.Querier) (bool, error) {
			all, err := dump.Texts(q, "SELECT mark FROM "+marks)
			return len(all) > 0, err
		},
		Unmark: func(tx sqldb.Tx) error {
			_, err := tx.Exec("DELETE FROM " + marks)
			return err
		}}
}

// TestRest: what is done with tables that were loaded sees them, marked. Where it fails nothing is left, and what is
// left where the load was killed meanwhile, the next one removes.
func TestRest(t *testing.T) {
	suite.Deep(t)
	from, to := optionsFor(pgtest.New(t)), optionsFor(pgtest.New(t))
	fill(t, side(t, openRuns(t, from)))
	must(t, pgtest.Exec(t.Context(), from.URL, "CREATE TABLE marks (mark TEXT PRIMARY KEY)"))
	m, err := pgdump.Open(t.Context(), from, runs(), marks)
	must(t, err)
	var text bytes.Buffer
	must(t, errors.Join(m.Write(t.Context(), &text), m.Close()))
	load := func(do func(context.Context) error) error {
		return pgdump.Load(t.Context(), to, runs(), bytes.NewReader(text.Bytes()), rest(do))
	}
	seen := 0
	see := func(ctx context.Context) error {
		return asked(t, to, func(q moving.Querier) error {
			marked, err := dump.Texts(q, "SELECT mark FROM marks")
			rows, failed := dump.Texts(q, "SELECT name FROM workspaces")
			if len(marked) != 1 || len(rows) != 5 {
				t.Errorf("marked %v, with %d rows", marked, len(rows))
			}
			seen++
			return errors.Join(err, failed)
		})
	}
	broken := errors.New("broken")
	if err := load(func(ctx context.Context) error { return errors.Join(see(ctx), broken) }); !errors.Is(err, broken) {
		t.Errorf("a rest that fails: %v", err)
	}
	if left := tables(t, to); len(left) > 0 {
		t.Errorf("it has left %v", left)
	}
	killed := func(ctx context.Context) error {
		must(t, pgtest.Exec(ctx, to.URL, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "+
			"current_database() AND pid <> pg_backend_pid()"))
		return errors.Join(see(ctx), broken)
	}
	if err := load(killed); !errors.Is(err, broken) {
		t.Errorf("one that is killed: %v", err)
	}
	if len(tables(t, to)) == 0 {
		t.Error("who was killed has removed something")
	}
	must(t, load(see))
	if seen != 3 {
		t.Errorf("it was done %d times", seen)
	}
	if err := load(see); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a database that is loaded: %v", err)
	}
	must(t, openRuns(t, to).Ready(t.Context()))
}

// TestServersWait: a server that starts while a database is loaded serves what is there then.
func TestServersWait(t *testing.T) {
	suite.Deep(t)
	from, to := optionsFor(pgtest.New(t)), optionsFor(pgtest.New(t))
	source := openRuns(t, from)
	org := uuid.NewString()
	must(t, source.Write(t.Context(), uuid.Nil, func(tx sqldb.Tx) error {
		_, err := tx.Exec("INSERT INTO organizations (org, bytes) VALUES (?, 7)", org)
		return err
	}))
	text := written(t, from, runs())
	reader, writer := io.Pipe()
	loaded := make(chan error, 1)
	go func() {
		loaded <- pgdump.Load(context.Background(), to, runs(), reader, dump.Rest{})
	}()
	_, err := writer.Write(text[:len(text)/2]) // it is read, so the load has begun
	must(t, err)
	waits, served := make(chan struct{}, 100), make(chan error, 1)
	go func() {
		o := to
		o.Log = slog.New(telling{slog.DiscardHandler, waits})
		db, err := sqldb.Open(context.Background(), sqldb.Options{Postgres: &o})
		if err == nil {
			err = errors.Join(db.Ask(context.Background(), uuid.Nil, func(q sqldb.Querier) error {
				var bytes int64
				found, err := sqldb.One(q, []any{&bytes}, "SELECT bytes FROM organizations WHERE org = ?", org)
				if bytes != 7 || !found {
					t.Errorf("it serves %d, %v", bytes, found)
				}
				return err
			}), db.Close())
		}
		served <- err
	}()
	<-waits
	_, err = writer.Write(text[len(text)/2:])
	must(t, errors.Join(err, writer.Close(), <-loaded, <-served))
}

// telling tells of what is logged.
type telling struct {
	slog.Handler
	to chan struct{}
}

func (h telling) Enabled(context.Context, slog.Level) bool { return true }

func (h telling) Handle(context.Context, slog.Record) error {
	h.to <- struct{}{}
	return nil
}
