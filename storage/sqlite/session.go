package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqlitedb"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// session is the writing connection with its prepared statements, and what the writer's jobs
// know without asking. Only they use it, one at a time.
type session struct {
	conn *sql.Conn
	now  func() time.Time
	head *headQuery
	// seals are the store's.
	seals *stateengine.Seals
	// newest and last are the time and the sequence of the audit log's last event, so that it is not
	// asked for with each; newest is 0 when it must be. What is undone takes it back.
	newest, last int64
	heads        *heads
	chains       *chains
	census       *state.Census
	// listEvery is after how many events those that are unlisted are listed.
	listEvery int64
	// unchained leaves events out of chains, for the benchmark of what these cost.
	unchained bool

	addState, addVersion, addBody           rowStatement
	setNewest, setDeleted, setLock, release rowStatement
	setSeen, setFence, setExpected          rowStatement
	isBase, retireLock, lockUsed            *sql.Stmt
	candidateStatus, openCandidates         *sql.Stmt
	addCandidate, settle                    *sql.Stmt
	addEvent, lastEvent, listEvents         *sql.Stmt
	chain, setChain                         *sql.Stmt
	addProbe, deleteProbe                   *sql.Stmt
	dataVersion, usage                      *sql.Stmt
}

func newSession(now func() time.Time) *session {
	return &session{now: now, head: &headQuery{}, heads: newHeads(), chains: newChains(),
		census: state.NewCensus(), listEvery: unlisted}
}

// connected begins to use a connection of the writer's.
func (t *session) connected(tx *sqlitedb.Tx) (err error) {
	t.conn = tx.Conn()
	for _, s := range t.statements() {
		if *s.to, err = tx.Stmt(s.text); err != nil {
			return err
		}
	}
	return nil
}

func (t *session) statements() []statement {
	return []statement{
		{&t.head.stmt, sqlHead},
		t.addState.prepared(sqlAddState),
		t.addVersion.prepared(sqlAddVersion),
		t.addBody.prepared(sqlAddBody),
		{&t.isBase, sqlIsBase},
		t.setNewest.prepared(sqlSetNewest),
		t.setDeleted.prepared(sqlSetDeleted),
		t.setLock.prepared(sqlSetLock),
		t.release.prepared(sqlRelease),
		t.setSeen.prepared(sqlSetSeen),
		t.setFence.prepared(sqlSetFence),
		t.setExpected.prepared(sqlSetExpected),
		{&t.retireLock, sqlRetireLock},
		{&t.lockUsed, sqlLockUsed},
		{&t.candidateStatus, sqlCandidateStatus},
		{&t.openCandidates, sqlOpenCandidates},
		{&t.addCandidate, sqlAddCandidate},
		{&t.settle, sqlSettle},
		{&t.addEvent, sqlAddEvent},
		{&t.lastEvent, sqlLastEvent},
		{&t.listEvents, sqlListEvents},
		{&t.chain, sqlChain},
		{&t.setChain, sqlSetChain},
		{&t.addProbe, sqlAddProbe},
		{&t.deleteProbe, sqlDeleteProbe},
		{&t.dataVersion, sqlDataVersion},
		{&t.usage, sqlUsage},
	}
}

// headOf returns a state's row as the transaction under way sees it.
func (t *session) headOf(in stateengine.Envelope) (stateengine.HeadRow, error) {
	ref := in.Ref()
	if row, ok := t.heads.rows.Get(ref); ok {
		return row, nil
	}
	row, err := t.head.load(in)
	if err == nil {
		t.heads.keep(ref, row)
	}
	return row, err
}

// begun has what others wrote since the transaction before seen in the one that has begun.
func (t *session) begun(*sqlitedb.Tx) error {
	t.census.Drop() // of a transaction that was undone
	var version int64
	err := t.dataVersion.QueryRowContext(context.Background()).Scan(&version)
	if err == nil && t.heads.at(version) {
		t.newest = 0
		t.chains.forgetAll()
	}
	return err
}

// committed counts what the transaction changed.
func (t *session) committed() {
	t.chains.settle()
	t.census.Settle()
}

// undone forgets what may not be so.
func (t *session) undone() {
	t.newest = 0
	t.heads.forgetAll()
	t.chains.forgetAll()
}

// exec runs a statement to its end: what has begun is not given up half way.
func (t *session) exec(stmt *sql.Stmt, args ...any) error {
	_, err := stmt.ExecContext(context.Background(), args...)
	return err
}

// insert runs an INSERT and returns the new row's ID.
func (t *session) insert(stmt *sql.Stmt, args ...any) (int64, error) {
	result, err := stmt.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// writeProbe writes about what a small state takes, and leaves nothing behind.
func (t *session) writeProbe() error {
	id, err := t.insert(t.addProbe)
	if err != nil {
		return err
	}
	return t.exec(t.deleteProbe, id)
}
