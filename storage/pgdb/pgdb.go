// Package pgdb reaches PostgreSQL, and says what its errors mean.
package pgdb

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/internal/pause"
	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/serverdb"
)

// Options say where the database is and how it is reached. Zero durations and counts take the defaults; Log is needed.
type Options struct {
	// URL is postgres://user:password@host:port/name?sslmode=…; it is a secret.
	URL string `json:"-"`

	MaxOpenConns    int           // MaxOpenConns
	MaxIdleConns    int           // as many as may be open
	ConnMaxLifetime time.Duration // 5 minutes
	// ConnectTimeout bounds the making of one connection; 5 seconds.
	ConnectTimeout time.Duration

	texts   Texts // zero unless Plain says
	greet   Greet
	patient bool

	Log *slog.Logger
}

// MaxOpenConns is how many connections a pool has where nothing else is said.
const MaxOpenConns = 16

const (
	// attemptTimeout bounds one attempt to reach the server.
	attemptTimeout = 15 * time.Second
	clientIdle     = 45 * time.Second // when we end an idle connection
)

// errPooled is of a server whose sessions don't keep what is set, prepared and locked in them.
var errPooled = errors.New("a proxy is before the server that shares sessions between clients, as pgbouncer does " +
	"with pool_mode = transaction, and locks and settings are of a session: name the server itself, or a pool of whole " +
	"sessions (pool_mode = session)")

// startupSettings are in force on every connection, whatever the server's own are. A pgbouncer knows these, and refuses
// or ignores others that a connection begins with: those are set later.
func startupSettings() map[string]string {
	return map[string]string{
		"application_name":            "holdfast",
		"timezone":                    "UTC",
		"client_encoding":             "UTF8",
		"standard_conforming_strings": "on",
	}
}

// sessionSettings are those that are set on every connection once it is there. The server ends a session that says
// nothing within a transaction, as a node does that was cut off, and so frees what it had locked.
func (o Options) sessionSettings() map[string]string {
	all := map[string]string{
		"default_transaction_isolation":       "read committed",
		"lock_timeout":                        "10s",
		"idle_in_transaction_session_timeout": "10s",
		"statement_timeout":                   "60s",
	}
	if o.patient {
		all["statement_timeout"], all["idle_in_transaction_session_timeout"] = "0", "0"
		all["idle_session_timeout"] = "0" // who migrates holds its lock on a session that says nothing
	}
	return all
}

// Patient returns options for sessions that the server does not end, however long a statement takes or they say
// nothing: a migration or a dump takes as long as there is much.
func (o Options) Patient() Options {
	o.patient = true
	return o
}

// Open returns a pool of connections. None is made yet. A server that only takes reads is passed over: of several in
// the URL the one that takes writes is used.
func (o Options) Open() (*sql.DB, error) {
	config, err := o.config()
	if err != nil {
		return nil, err
	}
	connector := stdlib.GetConnector(*config, stdlib.OptionAfterConnect(o.setUp))
	if o.texts != 0 {
		connector = plainConnector{connector, o.texts, o.greet}
	}
	db := sql.OpenDB(connector)
	most := cmp.Or(o.MaxOpenConns, MaxOpenConns)
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(cmp.Or(o.MaxIdleConns, most))
	db.SetConnMaxLifetime(cmp.Or(o.ConnMaxLifetime, 5*time.Minute))
	db.SetConnMaxIdleTime(clientIdle)
	return db, nil
}

// setUp has the times that are read from a new connection be in UTC, as those that are written are, its session have
// the settings, and each COMMIT be answered when it is on disk, also where the server's setting says otherwise. What
// waits for standbys besides stays as it is.
func (o Options) setUp(ctx context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterType(&pgtype.Type{Name: "timestamptz", OID: pgtype.TimestamptzOID,
		Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC}})
	var set strings.Builder
	set.WriteString("SELECT set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), " +
		"'off'), 'on'), false)")
	for name, value := range o.sessionSettings() {
		fmt.Fprintf(&set, ", set_config('%s', '%s', false)", name, value)
	}
	_, err := conn.Exec(ctx, set.String())
	return err
}

// Unprepared, in front of a statement's values, has the server not keep it prepared.
const Unprepared = pgx.QueryExecModeExec

func (o Options) config() (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(o.URL)
	if err != nil {
		return nil, errors.New("the URL of the database is none of PostgreSQL's: it is like " +
			"postgres://user:password@host:5432/name?sslmode=verify-full") // the parser's own words may have the password
	}
	config.ConnectTimeout = cmp.Or(o.ConnectTimeout, 5*time.Second)
	config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	for name, value := range startupSettings() {
		config.RuntimeParams[name] = value
	}
	return config, nil
}

// Name is what the database is called on its server.
func (o Options) Name() string {
	config, err := pgx.ParseConfig(o.URL)
	if err != nil {
		return "of PostgreSQL"
	}
	return config.Database
}

// String names the database without the password.
func (o Options) String() string {
	config, err := pgx.ParseConfig(o.URL)
	if err != nil {
		return "PostgreSQL"
	}
	return config.Database + " at " + config.Host + ":" + strconv.Itoa(int(config.Port))
}

// GoString keeps the password out of %#v.
func (o Options) GoString() string { return o.String() }

// LogValue keeps the password out of the log.
func (o Options) LogValue() slog.Value { return slog.StringValue(o.String()) }

// Check returns why nothing can be kept in the database, as it is set up. It sets nothing in sessions that may be those
// of others.
func (o Options) Check(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	config, err := o.config()
	if err != nil {
		return err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // nothing stays prepared
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	var encoding, version string
	if err := conn.QueryRow(ctx, "SELECT pg_encoding_to_char(encoding), current_setting('server_version_num') "+
		"FROM pg_database WHERE datname = current_database()").Scan(&encoding, &version); err != nil {
		return err
	}
	if encoding != "UTF8" {
		return fmt.Errorf("the database's encoding is %s, and has to be UTF8: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE "+
			"template0", encoding)
	}
	if n, err := strconv.Atoi(version); err != nil || n < 140000 {
		return fmt.Errorf("the server is PostgreSQL %s, and 14 is the oldest that is known to do", version)
	}
	return checkSessions(ctx, conn)
}

// checkSessions returns errPooled if the connection has not a session of the server for itself all the time: if that is
// another one from one transaction to the next, or meanwhile another connection's.
func checkSessions(ctx context.Context, conn *pgx.Conn) (err error) {
	other, err := pgx.ConnectConfig(ctx, conn.Config())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, other.Close(ctx)) }()
	var mine, others int64
	session := func(of *pgx.Conn) (pid int64, err error) {
		err = of.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid)
		return pid, err
	}
	// Twice: a pool that lends sessions in turn has another one for the second.
	for range 2 {
		pid, err := session(conn)
		if err != nil {
			return err
		}
		if mine != 0 && pid != mine {
			return errPooled
		}
		mine = pid
	}
	// Within a transaction the other connection keeps the session that it gets: this one, where that was given back.
	if _, err := other.Exec(ctx, "BEGIN"); err != nil {
		if Code(err) == ofPgbouncer { // with pool_mode = statement, there are none
			err = errPooled
		}
		return err
	}
	if others, err = session(other); err != nil {
		return err
	}
	if others == mine {
		return errPooled
	}
	pid, err := session(conn)
	if err == nil && pid != mine {
		err = errPooled
	}
	return err
}

// Await sets up what needs the server, and tries again while that is away, for at most the given time, unless that is
// zero. What waiting can't mend, such as a wrong password, it returns at once.
func (o Options) Await(ctx context.Context, most time.Duration, setUp func(context.Context) error) error {
	return serverdb.Await(ctx, o, o.Log, most, func(err error) bool { return IsAway(err) || IsConflict(err) }, setUp)
}

// lockPoll is how often who waits for a lock asks for it.
const lockPoll = 200 * time.Millisecond

// Lock returns once the connection has the database's lock of a name, which no other has until unlock is called: the
// server frees it, too, when the connection ends, whatever becomes of this process. While another connection has it,
// Lock tries again and again, unless waiting returns an error.
func Lock(ctx context.Context, conn *sql.Conn, name string, waiting func() error) (unlock func() error, err error) {
	sum := sha256.Sum256([]byte("holdfast " + name))
	key := int64(binary.BigEndian.Uint64(sum[:8]))
	for taken := false; ; {
		if err := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", key).Scan(&taken); err != nil {
			return nil, err
		}
		if taken {
			return func() error {
				_, err := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", key)
				return err
			}, nil
		}
		if err := waiting(); err != nil {
			return nil, err
		}
		if err := pause.For(ctx, lockPoll); err != nil {
			return nil, err
		}
	}
}

// LockSchema returns when nobody migrates the database, and has them wait until unlock is called.
func (o Options) LockSchema(ctx context.Context, conn *sql.Conn) (unlock func() error, err error) {
	told := false
	return Lock(ctx, conn, "schema", func() error {
		if !told {
			o.Log.InfoContext(ctx, "waiting for another node that migrates the database", "database", o)
			told = true
		}
		return nil
	})
}

// Migrate brings the schema up to date while it holds a lock, as several nodes may start at once.
func (o Options) Migrate(ctx context.Context, s schema.Schema) (err error) {
	o.MaxOpenConns, o.MaxIdleConns, o.texts, o.greet = 2, 2, 0, nil // the lock has one of them
	db, err := o.Patient().Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	unlock, err := o.LockSchema(ctx, conn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	s.Dialect = goose.DialectPostgres
	err = s.Migrate(ctx, db, o.Log)
	if Code(err) == "42501" {
		err = fmt.Errorf("the database's user may not make or use its tables; let an administrator run GRANT ALL ON SCHEMA "+
			"public for it, or make it the database's owner: %w", err)
	}
	return err
}

// WhyNotDurable names the settings by which a crash of the server may take back what was committed; empty for none.
func (Options) WhyNotDurable(ctx context.Context, db *sql.DB) string {
	var off []string
	for _, setting := range []string{"fsync", "full_page_writes"} {
		var is string
		if err := db.QueryRowContext(ctx, "SHOW "+setting).Scan(&is); err == nil && is == "off" {
			off = append(off, setting+" = off")
		}
	}
	return strings.Join(off, ", ")
}

// WhyReadOnly names what keeps the server from taking writes; empty for nothing.
func (Options) WhyReadOnly(ctx context.Context, db *sql.DB) string {
	var standby bool
	var setting string
	err := db.QueryRowContext(ctx, "SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only')").
		Scan(&standby, &setting)
	switch {
	case err != nil:
		return ""
	case standby:
		return "it is a standby"
	case setting == "on":
		return "default_transaction_read_only = on"
	}
	return ""
}

// Quoted is a table's or column's name as a statement has it.
func Quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// Numbered returns a statement with PostgreSQL's placeholders, $1 for the first ? and so on, and with its quotes around
// names that are in backticks. What is within quotes stays.
func Numbered(query string) string {
	if !strings.ContainsAny(query, "?`") {
		return query
	}
	var b strings.Builder
	b.Grow(len(query) + 16)
	n, quote := 0, byte(0)
	for i := 0; i < len(query); i++ {
		c := query[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '?':
			n++
			b.WriteByte('$')
			b.WriteString(strconv.Itoa(n))
			continue
		case c == '`':
			c = '"'
		}
		b.WriteByte(c)
	}
	return b.String()
}
