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

	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/serverdb"
)

// Options say where the database is and how it is reached. Zero durations and counts take the defaults; Log is needed.
type Options struct {
	// URL is postgres://user:password@host:port/name?sslmode=…; it is a secret.
	URL string `json:"-"`

	MaxOpenConns    int           // 16
	MaxIdleConns    int           // as many as may be open
	ConnMaxLifetime time.Duration // 5 minutes
	// ConnectTimeout bounds the making of one connection; 5 seconds.
	ConnectTimeout time.Duration

	Log *slog.Logger
}

const (
	// attemptTimeout bounds one attempt to reach the server.
	attemptTimeout = 15 * time.Second
	clientIdle     = 45 * time.Second // when we end an idle connection
)

// sessionSettings are in force on every connection, whatever the server's own are. The server ends a session that says
// nothing within a transaction, as a node does that was cut off, and so frees what it had locked.
func sessionSettings() map[string]string {
	return map[string]string{
		"application_name":                    "holdfast",
		"timezone":                            "UTC",
		"client_encoding":                     "UTF8",
		"default_transaction_isolation":       "read committed",
		"standard_conforming_strings":         "on",
		"lock_timeout":                        "10s",
		"idle_in_transaction_session_timeout": "10s",
		"statement_timeout":                   "60s",
	}
}

// Open returns a pool of connections. None is made yet. A server that only takes reads is passed over: of several in
// the URL the one that takes writes is used.
func (o Options) Open() (*sql.DB, error) {
	config, err := o.config()
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(inUTC))
	most := cmp.Or(o.MaxOpenConns, 16)
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(cmp.Or(o.MaxIdleConns, most))
	db.SetConnMaxLifetime(cmp.Or(o.ConnMaxLifetime, 5*time.Minute))
	db.SetConnMaxIdleTime(clientIdle)
	return db, nil
}

// inUTC has the times that are read from a connection be in UTC, as those that are written are.
func inUTC(_ context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterType(&pgtype.Type{Name: "timestamptz", OID: pgtype.TimestamptzOID,
		Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC}})
	return nil
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
	for name, value := range sessionSettings() {
		config.RuntimeParams[name] = value
	}
	return config, nil
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

// Check returns why nothing can be kept in the database, as it is set up.
func Check(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	var encoding, version string
	if err := db.QueryRowContext(ctx, "SELECT pg_encoding_to_char(encoding), current_setting('server_version_num') FROM "+
		"pg_database WHERE datname = current_database()").Scan(&encoding, &version); err != nil {
		return err
	}
	if encoding != "UTF8" {
		return fmt.Errorf("the database's encoding is %s, and has to be UTF8: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE "+
			"template0", encoding)
	}
	if n, err := strconv.Atoi(version); err != nil || n < 140000 {
		return fmt.Errorf("the server is PostgreSQL %s, and 14 is the oldest that is known to do", version)
	}
	return nil
}

// Await sets up what needs the server, and tries again while that is away, for at most the given time, unless that is
// zero. What waiting can't mend, such as a wrong password, it returns at once.
func (o Options) Await(ctx context.Context, most time.Duration, setUp func(context.Context) error) error {
	return serverdb.Await(ctx, o, o.Log, most, func(err error) bool { return IsAway(err) || IsConflict(err) }, setUp)
}

// Migrate brings the schema up to date while it holds a lock, as several nodes may start at once. The server frees the
// lock when its connection ends, whatever becomes of this process. That connection is none of the pool's, which may
// have just one.
func (o Options) Migrate(ctx context.Context, db *sql.DB, s schema.Schema) (err error) {
	o.MaxOpenConns, o.MaxIdleConns = 1, 1
	locks, err := o.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, locks.Close()) }()
	conn, err := locks.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	sum := sha256.Sum256([]byte("holdfast schema"))
	key := int64(binary.BigEndian.Uint64(sum[:8]))
	for taken := false; !taken; {
		if err := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", key).Scan(&taken); err != nil {
			return err
		}
		if !taken {
			o.Log.InfoContext(ctx, "waiting for another node that migrates the database", "database", o)
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	defer func() {
		_, unlocked := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", key)
		err = errors.Join(err, unlocked)
	}()
	s.Dialect = goose.DialectPostgres
	err = s.Migrate(ctx, db, o.Log)
	if Code(err) == "42501" {
		err = fmt.Errorf("the database's user may not make or use its tables; let an administrator run GRANT ALL ON SCHEMA "+
			"public for it, or make it the database's owner: %w", err)
	}
	return err
}

// Numbered returns a statement with PostgreSQL's placeholders: $1 for the first ? and so on. A ? within quotes stays.
func Numbered(query string) string {
	if !strings.Contains(query, "?") {
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
		}
		b.WriteByte(c)
	}
	return b.String()
}
