package index

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"runtime"
	"sync"

	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// groupLimit is how many jobs share a transaction at most.
const groupLimit = 256

// writer carries out jobs one after another. Those that wait share a transaction, and
// with it an fsync.
type writer struct {
	place place
	db    *sql.DB
	jobs  chan *job
	done  chan struct{}

	mu     sync.RWMutex
	closed bool

	conn  *sql.Conn // nil until it is needed, and after trouble
	saved bool      // what was removed while it was open
	stmts map[string]*sql.Stmt
}

type job struct {
	run  func(*tx) error // may run twice, if its transaction has to be repeated
	err  chan error
	fail error
}

func newWriter(db *sql.DB, at place) *writer {
	w := &writer{place: at, db: db, jobs: make(chan *job, groupLimit), done: make(chan struct{})}
	go w.work()
	return w
}

// do carries run out in a transaction and returns when it is durable.
func (w *writer) do(run func(*tx) error) error {
	j := &job{run: run, err: make(chan error, 1)}
	if !w.enqueue(j) {
		return errClosed()
	}
	return storeError(<-j.err)
}

func (w *writer) enqueue(j *job) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if !w.closed {
		w.jobs <- j
	}
	return !w.closed
}

func (w *writer) close() error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.jobs)
	}
	w.mu.Unlock()
	<-w.done
	return w.db.Close()
}

func (w *writer) work() {
	defer close(w.done)
	defer w.drop(nil)
	for first := range w.jobs {
		// Those who are about to come in get the processor first, and share the fsync, or the
		// next one: that saves a twentieth of an upload's processor time.
		runtime.Gosched()
		group := []*job{first}
		for len(group) < groupLimit && len(w.jobs) > 0 {
			group = append(group, <-w.jobs)
		}
		w.commit(group)
		for _, j := range group {
			j.err <- j.fail
		}
	}
}

// commit makes one transaction of the group. If a job of it is wrong, each has to stand
// for itself, so that none suffers for another; trouble with the disk is everybody's.
func (w *writer) commit(group []*job) {
	err := w.transact(group)
	if err != nil && len(group) > 1 && !everybodys(err) {
		for _, j := range group {
			j.fail = w.transact([]*job{j})
		}
		return
	}
	for _, j := range group {
		j.fail = err
	}
}

func (w *writer) transact(group []*job) error {
	err := w.check()
	if err == nil {
		err = w.connect()
	}
	if err == nil {
		err = w.attempt(group)
	}
	if sqlitedb.MustReopen(err) || Uncertain(err) {
		w.drop(driver.ErrBadConn)
	}
	return err
}

func (w *writer) attempt(group []*job) error {
	t := &tx{w}
	if err := t.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, j := range group {
		if err := j.run(t); err != nil {
			return errors.Join(err, t.rollback())
		}
	}
	if err := t.exec("COMMIT"); err != nil {
		return errors.Join(commitError(err), t.rollback())
	}
	return nil
}

func (w *writer) connect() (err error) {
	if w.conn == nil {
		w.conn, err = w.db.Conn(context.Background())
		w.stmts = map[string]*sql.Stmt{}
	}
	return err
}

// drop gives the connection back, or closes it if reason is driver.ErrBadConn.
func (w *writer) drop(reason error) {
	if w.conn == nil {
		return
	}
	for _, s := range w.stmts {
		_ = s.Close()
	}
	_ = w.conn.Raw(func(any) error { return reason })
	_ = w.conn.Close()
	w.conn = nil
}
