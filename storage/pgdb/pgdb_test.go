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
	return o.Await(t.Context(), 3*time.Second, o.Check)
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

// A proxy that shares sessions between clients is named at the start, however often that is tried and whatever it does
// with settings; one that lends whole sessions does no harm, and the settings are in force there.
func TestBehindPgbouncer(t *testing.T) {
	suite.Deep(t)
	const ignored = "ignore_startup_parameters=lock_timeout,statement_timeout,idle_in_transaction_session_timeout," +
		"default_transaction_isolation"
	const shared = "shares sessions between clients, as pgbouncer does with pool_mode = transaction"
	for name, test := range map[string]struct {
		settings []string
		own      bool // the database has the settings itself
		want     string
	}{
		"transaction":                 {[]string{"pool_mode=transaction"}, false, shared},
		"transaction, settings lost":  {[]string{"pool_mode=transaction", ignored}, false, shared},
		"transaction, settings there": {[]string{"pool_mode=transaction", ignored}, true, shared},
		"transaction, in turn":        {[]string{"pool_mode=transaction", ignored, "server_round_robin=1"}, true, shared},
		"transaction, one session":    {[]string{"pool_mode=transaction", "default_pool_size=1"}, false, shared},
		"statement":                   {[]string{"pool_mode=statement"}, false, shared},
		"session":                     {[]string{"pool_mode=session"}, false, ""},
		"session, settings lost":      {[]string{"pool_mode=session", ignored}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			good := pgtest.New(t)
			if test.own {
				set := "DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || quote_ident(current_database()) || " +
					"' SET lock_timeout = 10000'; END $$"
				if err := pgtest.Exec(t.Context(), good, set); err != nil {
					t.Fatal(err)
				}
			}
			by := pgtest.Bouncer(t, "../../scripts/pgbouncer.sh", good, test.settings...)
			for range 3 {
				err := open(t, by)
				if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
					t.Errorf("%v; want %q", err, test.want)
				}
			}
			if test.want == "" {
				wantSettings(t, by)
			}
		})
	}
}

// A server that is down behind a pgbouncer is away, and waited for. A parameter that pgbouncer does not know is not.
func TestAwayBehindPgbouncer(t *testing.T) {
	suite.Deep(t)
	server, url := pgtest.Private(t)
	by := pgtest.Bouncer(t, "../../scripts/pgbouncer.sh", url, "pool_mode=session", "server_login_retry=1")
	o := pgdb.Options{URL: by, Log: slog.New(slog.DiscardHandler)}
	db, err := o.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	for range 3 { // the connection that was lost, and those that are tried
		_, err := db.ExecContext(t.Context(), "SELECT 1")
		if f := pgdb.Fault(err, "large", "away"); !pgdb.IsAway(err) || !fault.Is(f, fault.StoreUnavailable) {
			t.Errorf("a server that is down: %v, %v", err, f)
		}
	}
	up := make(chan error)
	tries := 0
	go func() { up <- server.Run(t.Context()) }()
	if err := o.Await(t.Context(), time.Minute, func(ctx context.Context) error {
		tries++
		return o.Check(ctx)
	}); err != nil {
		t.Errorf("after %d tries: %v", tries, err)
	}
	if err := <-up; err != nil {
		t.Fatal(err)
	}
	if err := open(t, by+"&search_path=public"); err == nil || pgdb.IsAway(err) ||
		!strings.Contains(err.Error(), "unsupported startup parameter: search_path") {
		t.Errorf("a parameter that is not known: %v", err)
	}
}

// wantSettings looks for what is to be in force on each connection.
func wantSettings(t *testing.T, url string) {
	t.Helper()
	o := pgdb.Options{URL: url, Log: slog.New(slog.DiscardHandler)}
	db, err := o.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for setting, want := range map[string]string{"lock_timeout": "10s", "idle_in_transaction_session_timeout": "10s",
		"statement_timeout": "1min", "default_transaction_isolation": "read committed", "TimeZone": "UTC",
		"synchronous_commit": "on", "application_name": "holdfast"} {
		var got string
		if err := db.QueryRowContext(t.Context(), "SHOW "+setting).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", setting, got, err, want)
		}
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
