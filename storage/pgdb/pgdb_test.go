package pgdb_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
	"github.com/holdfast/holdfast/storage/schema"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m.Run)) }

func TestNumbered(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT 1": "SELECT 1",
		"SELECT a FROM t WHERE b = ? AND c IN (?, ?)": "SELECT a FROM t WHERE b = $1 AND c IN ($2, $3)",
		`SELECT '?', "?" FROM t WHERE b = ?`:          `SELECT '?', "?" FROM t WHERE b = $1`,
		"SELECT 'it''s ?' WHERE b = ?":                "SELECT 'it''s ?' WHERE b = $1",
		"SELECT `at`, '`' FROM t":                     "SELECT \"at\", '`' FROM t",
	} {
		if got := pgdb.Numbered(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestClosedIsAway: the driver has no other error for a connection that it lost while it waited for an answer.
func TestClosedIsAway(t *testing.T) {
	if err := fmt.Errorf("commit: %w", pgconn.ErrConnClosed); !pgdb.IsAway(err) || pgdb.IsConflict(err) {
		t.Errorf("%v is not away", err)
	}
}

// TestPoolOfOne migrates with a pool that has one connection, and reads a time in UTC as it was written.
func TestPoolOfOne(t *testing.T) {
	suite.Deep(t)
	o := pgdb.Options{URL: pgtest.New(t), MaxOpenConns: 1, Log: slog.New(slog.DiscardHandler)}
	db, err := o.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	steps := fstest.MapFS{"migrations/00001_one.sql": {Data: []byte("-- +goose Up\nCREATE TABLE one (at TIMESTAMPTZ);\n")}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := o.Migrate(ctx, schema.Schema{Steps: steps, Table: "one_schema", Of: "test"}); err != nil {
		t.Fatal(err)
	}
	want := time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)
	if _, err := db.ExecContext(ctx, "INSERT INTO one VALUES ($1)", want.In(time.FixedZone("east", 3600))); err != nil {
		t.Fatal(err)
	}
	for _, mode := range [][]any{nil, {pgdb.Unprepared}} {
		var got time.Time
		if err := db.QueryRowContext(ctx, "SELECT at FROM one", mode...).Scan(&got); err != nil || got != want {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
}

// TestMigrationsTakeTheirTime: a step that goes through all rows of a large table is not ended by what bounds the
// statements of requests.
func TestMigrationsTakeTheirTime(t *testing.T) {
	o := pgdb.Options{URL: pgtest.New(t), Log: slog.New(slog.DiscardHandler)}
	steps := fstest.MapFS{"migrations/00001_one.sql": {Data: []byte("-- +goose Up\nCREATE TABLE one AS SELECT " +
		"current_setting('statement_timeout') AS bound, current_setting('idle_in_transaction_session_timeout') AS idle;\n")}}
	if err := o.Migrate(t.Context(), schema.Schema{Steps: steps, Table: "one_schema", Of: "test"}); err != nil {
		t.Fatal(err)
	}
	db, err := o.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var bound, idle, usual string
	err = db.QueryRowContext(t.Context(), "SELECT bound, idle, current_setting('statement_timeout') FROM one").
		Scan(&bound, &idle, &usual)
	if err != nil || bound != "0" || idle != "0" || usual == "0" {
		t.Errorf("a migration's statements are bounded by %s, and its silence by %s; requests' by %s, %v", bound, idle, usual, err)
	}
}

// No password gets into a message or a log.
func TestPasswordIsNotSaid(t *testing.T) {
	for _, url := range []string{"postgres://ada:hunter2@db.example.com:bad/x", "postgres://ada:hunter2@127.0.0.1:1/x",
		"hunter2", "host=127.0.0.1 port=1 password=hunter2 dbname=x user=ada"} {
		o := pgdb.Options{URL: url, Log: slog.New(slog.DiscardHandler), ConnectTimeout: time.Second}
		text := fmt.Sprintf("%v %#v %s", o, o, o.LogValue())
		db, err := o.Open()
		if err == nil {
			err = db.PingContext(t.Context())
			db.Close()
		}
		if err == nil || strings.Contains(text+err.Error(), "hunter2") {
			t.Errorf("%s: %s; %v", url, text, err)
		}
	}
}

func open(t *testing.T, url string) error {
	t.Helper()
	o := pgdb.Options{URL: url, Log: slog.New(slog.DiscardHandler)}
	db, err := o.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return o.Await(t.Context(), 3*time.Second, func(ctx context.Context) error { return pgdb.Check(ctx, db) })
}

// What stands in the way is named at the start, before anything is kept.
func TestWhatStandsInTheWay(t *testing.T) {
	suite.Deep(t)
	server := os.Getenv(pgtest.Environment)
	good := pgtest.New(t)
	if err := open(t, good); err != nil {
		t.Error(err)
	}
	name := "holdfast_test_latin"
	made := "CREATE DATABASE " + name + " ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
	if err := pgtest.Exec(t.Context(), server, made); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pgtest.Exec(context.Background(), server, "DROP DATABASE "+name) })
	if err := open(t, pgtest.At(server, name)); err == nil || !strings.Contains(err.Error(), "encoding is LATIN1") {
		t.Errorf("another encoding: %v", err)
	}
	if err := open(t, pgtest.At(server, "nowhere")); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("no such database: %v", err)
	}
	readOnly := "DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || quote_ident(current_database()) || " +
		"' SET default_transaction_read_only = on'; END $$"
	if err := pgtest.Exec(t.Context(), good, readOnly); err != nil {
		t.Fatal(err)
	}
	if err := open(t, good); err == nil || !strings.Contains(err.Error(), "read only") {
		t.Errorf("a server that takes no writes: %v", err)
	}
}

// What the server says becomes a fault that says what to do.
func TestFaults(t *testing.T) {
	suite.Deep(t)
	url := pgtest.New(t)
	for statement, want := range map[string]struct {
		code fault.Code
		text string
	}{
		"SELECT * FROM nothing":                                         {fault.StoreCorrupt, "missing"},
		"SET statement_timeout = 1; SELECT pg_sleep(1)":                 {fault.StoreUnavailable, "(statement_timeout)"},
		"SET transaction_read_only = on; CREATE TABLE x ()":             {fault.StoreUnavailable, "takes no writes"},
		"SELECT CAST('x' AS VARCHAR(1)) || repeat('x', 1 << 30)":        {fault.BodyTooLarge, "large"},
		"CREATE ROLE r; SET ROLE r; SELECT * FROM pg_catalog.pg_authid": {fault.StoreUnavailable, "lacks a privilege"},
	} {
		err := pgdb.Fault(pgtest.Exec(t.Context(), url, statement), "large", "away")
		if !fault.Is(err, want.code) || !strings.Contains(fault.From(err).Message, want.text) {
			t.Errorf("%s: %v, want %s", statement, err, want)
		}
	}
}
