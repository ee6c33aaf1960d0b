package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"
)

// readTimeout bounds a read, unless Options.Patience does.
const readTimeout = 30 * time.Second

// server is a database that several nodes may share.
type server struct {
	db         *sql.DB // for reads
	writers    *sql.DB
	transactor *Transactor
	speaks     Dialect
	patient    time.Duration // with a read
}

func newServer(d Dialect, db, writers *sql.DB, o Options) server {
	return server{db, writers, NewTransactor(d, writers, db, "outcomes", o.Log), d, cmp.Or(o.Patience, readTimeout)}
}

func (s *server) dialect() Dialect { return s.speaks }

func (s *server) explain(err error) error { return s.speaks.Fault(err, texts().TooLarge, texts().Away) }

// scrub leaves its files to the server.
func (s *server) scrub(context.Context) error { return nil }

func (s *server) close() error {
	s.transactor.Close()
	return errors.Join(s.writers.Close(), s.db.Close())
}

// read sees one moment: the connections' own isolation level sees each statement's.
func (s *server) read(ctx context.Context, fn func(Querier) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.patient)
	defer cancel()
	o := &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: s.speaks == Postgres} // which takes no trip more
	return readOn(ctx, s.db, s.speaks, o, fn)
}

func (s *server) ask(ctx context.Context, fn func(Querier) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.patient)
	defer cancel()
	return askOn(ctx, s.db, s.speaks, fn)
}

func (s *server) write(ctx context.Context, org uuid.UUID, bytes int, fn func(Tx) error) error {
	_, err := s.transactor.Do(ctx, bytes, func(t *Session) error {
		if err := lockOrganization(t, org); err != nil {
			return err
		}
		return fn(t)
	})
	return err
}

func (s *server) writeOwn(ctx context.Context, fn func(Tx) error) error {
	_, err := s.transactor.Do(ctx, 0, func(t *Session) error { return fn(t) })
	return err
}

// lockOrganization has the organization's other transactions wait for this one.
func lockOrganization(t *Session, org uuid.UUID) error {
	for {
		var locked string
		found, err := One(t, []any{&locked}, "SELECT org FROM organizations WHERE org = ? FOR UPDATE", org.String())
		if found || err != nil {
			return err
		}
		// Who inserts it has it locked; who finds it inserted meanwhile locks it then.
		inserted, err := Insert(t, "INSERT INTO organizations (org, bytes) VALUES (?, 0)", org.String())
		if inserted || err != nil {
			return err
		}
	}
}
