package states

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// nodes returns stores of several nodes that share a new database.
func nodes(t *testing.T, on kind, n int) []*Store {
	t.Helper()
	d, stores := on.new(t), make([]*Store, n)
	var wg sync.WaitGroup
	for i := range stores {
		wg.Go(func() {
			s, err := Open(context.Background(), d.options())
			if err != nil {
				t.Error(err)
				return
			}
			stores[i] = s
		})
	}
	wg.Wait()
	t.Cleanup(func() {
		for _, s := range stores {
			if s != nil {
				_ = s.Close()
			}
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return stores
}

// TestNodes has several nodes open a new database at once, and write the same states: every version
// is there once, each node sees what another one has just returned, and the log is the same to all.
func TestNodes(t *testing.T) { onEach(t, testNodes) }

func testNodes(t *testing.T, on kind) {
	stores, ref := nodes(t, on, 3), newRef("shared")
	var wg sync.WaitGroup
	for i, s := range stores {
		for w := range 2 {
			wg.Go(func() {
				for n := range 15 {
					body := fmt.Appendf(nil, "%d %d %d %s", i, w, n, strings.Repeat("alike ", 1000))
					head, err := s.Update(context.Background(), ref, body, write(body))
					if err != nil {
						t.Error(err)
						return
					}
					got, err := stores[(i+1)%3].Current(context.Background(), ref)
					if err != nil || got.Number < head.Version.Number {
						t.Errorf("another node reads version %d after %d, %v", got.Number, head.Version.Number, err)
					}
				}
			})
		}
	}
	wg.Wait()
	var bodies [][]byte
	for n := range uint64(90) {
		got, err := stores[0].Version(t.Context(), ref, n+1)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, got.Body)
	}
	for _, s := range stores {
		wantVersions(t, s, ref, bodies...)
	}
}

// TestOneHolderOfNodes has nodes fight for a lock: one at a time has it.
func TestOneHolderOfNodes(t *testing.T) { onEach(t, testOneHolderOfNodes) }

func testOneHolderOfNodes(t *testing.T, on kind) {
	stores, ref, held := nodes(t, on, 3), newRef("locked"), errors.New("held")
	var holders, most, taken int
	var mu sync.Mutex
	count := func(by int) {
		mu.Lock()
		defer mu.Unlock()
		holders += by
		most = max(most, holders)
		if by > 0 {
			taken++
		}
	}
	var wg sync.WaitGroup
	for i, s := range stores {
		wg.Go(func() {
			for n := range 40 {
				lock := &state.Lock{Info: state.LockInfo{ID: fmt.Sprint(i, "-", n), Raw: []byte("{}")}, Since: time.Now(),
					Seen: time.Now()}
				_, err := s.Update(context.Background(), ref, nil, func(h state.Head) (state.Change, error) {
					if h.Lock != nil {
						return state.Change{}, held
					}
					return state.Change{Lock: lock}, nil
				})
				if errors.Is(err, held) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				count(1)
				count(-1)
				if _, err := s.Update(context.Background(), ref, nil, func(h state.Head) (state.Change, error) {
					if h.Lock == nil || h.Lock.Info.ID != lock.Info.ID {
						t.Errorf("%s holds the lock, and %+v is there", lock.Info.ID, h.Lock)
					}
					return state.Change{Release: true}, nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if most != 1 || taken < 3 {
		t.Errorf("%d held the lock at once, and %d in all", most, taken)
	}
	if totals, err := stores[0].Totals(t.Context()); err != nil || totals.Locks != 0 {
		t.Errorf("Totals: %+v, %v", totals, err)
	}
}

// stuck begins a change of a state on a session of its own, as a node that stops in the middle of
// it, and returns the number of that session.
func stuck(t *testing.T, on kind, s *Store, ref state.Ref) (session int64, end func()) {
	t.Helper()
	conn, err := s.writers.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begun, err := s.transactor.Begin(context.Background(), conn)
	if err != nil {
		t.Fatal(err)
	}
	work := s.newTx(begun, ref)
	work.in = s.bodies.Seals.Of(t.Context(), ref)
	if _, err := work.Head(); err != nil {
		t.Fatal(err)
	}
	if _, err := work.One([]any{&session}, on.session()); err != nil {
		t.Fatal(err)
	}
	return session, func() { _ = conn.Close() }
}

// TestStoppedNode has a node stop with a state's row locked: all other states are changed meanwhile,
// also in its organization, that one is read, and it is changed as soon as the session has ended.
func TestStoppedNode(t *testing.T) { onEach(t, testStoppedNode) }

func testStoppedNode(t *testing.T, on kind) {
	stores, ref := nodes(t, on, 2), newRef("stopped")
	put(t, stores[0], ref, []byte("{}"))
	session, end := stuck(t, on, stores[0], ref)
	defer end()
	done := make(chan error)
	go func() {
		_, err := stores[1].Update(context.Background(), ref, []byte("[]"), write([]byte("[]")))
		done <- err
	}()
	for i := range 20 {
		other := state.Ref{Org: ref.Org, Name: state.Name(fmt.Sprint("other-", i))}
		put(t, stores[i%2], other, []byte("{}"))
	}
	if got, err := stores[1].Current(t.Context(), ref); err != nil || got.Number != 1 {
		t.Errorf("read version %d, %v", got.Number, err)
	}
	if page, err := stores[1].Events(t.Context(), ref.Org, audit.Query{Limit: 99}); err != nil || len(page.Events) != 21 {
		t.Errorf("%d events, %v", len(page.Events), err)
	}
	select {
	case err := <-done:
		t.Fatalf("the state was changed while its row was locked: %v", err)
	default:
	}
	if _, err := stores[1].readers.Exec(on.kill(session)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	wantVersions(t, stores[1], ref, []byte("{}"), []byte("[]"))
}

// TestResumedNode has the session of a change ended between its decision and its COMMIT, and another
// node change the state meanwhile: the change is decided anew, on what is there by then.
func TestResumedNode(t *testing.T) { onEach(t, testResumedNode) }

func testResumedNode(t *testing.T, on kind) {
	stores, ref := nodes(t, on, 2), newRef("resumed")
	put(t, stores[0], ref, []byte("1"))
	var seen []uint64
	head, err := stores[0].Update(t.Context(), ref, []byte("3"), func(h state.Head) (state.Change, error) {
		seen = append(seen, h.Version.Number)
		if len(seen) == 1 { // it stops here for longer than its session lives
			killWriters(t, on, stores[1])
			put(t, stores[1], ref, []byte("2"))
		}
		return write([]byte("3"))(h)
	})
	if err != nil || head.Version.Number != 3 || len(seen) != 2 || seen[1] != 2 {
		t.Errorf("version %d, decided on %v, %v", head.Version.Number, seen, err)
	}
	wantVersions(t, stores[1], ref, []byte("1"), []byte("2"), []byte("3"))
}

// killWriters ends the sessions that are in a transaction in this test's database: other packages' tests may
// use the same server meanwhile.
func killWriters(t *testing.T, on kind, s *Store) {
	t.Helper()
	rows, err := s.readers.Query(on.writing())
	if err != nil {
		t.Fatal(err)
	}
	var sessions []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, id)
	}
	if err := rows.Close(); err != nil || len(sessions) == 0 {
		t.Fatalf("no session is in a transaction: %v", err)
	}
	for _, id := range sessions {
		_, _ = s.readers.Exec(on.kill(id)) // one that has ended meanwhile is fine
	}
}

// TestLateCommit has a transaction's last packet come after it was settled that it has not happened:
// it never happens.
func TestLateCommit(t *testing.T) { onEach(t, testLateCommit) }

func testLateCommit(t *testing.T, on kind) {
	s, ref := nodes(t, on, 1)[0], newRef("late")
	put(t, s, ref, []byte("1"))
	conn, err := s.writers.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begun, err := s.transactor.Begin(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	late := s.newTx(begun, ref)
	body := []byte("2")
	u, err := s.bodies.NewUpdate(t.Context(), ref, body, write(body))
	if err != nil {
		t.Fatal(err)
	}
	late.in = u.Envelope()
	if err := u.Run(late); err != nil {
		t.Fatal(err)
	}
	if err := s.transactor.Settle(begun.Token(), time.Now(), errors.New("lost")); !errors.Is(err, sqldb.ErrUndone) {
		t.Fatalf("settled: %v", err)
	}
	if err := errors.Join(late.finish(), s.transactor.Commit(begun)); err == nil {
		t.Error("the COMMIT that came late was accepted")
	}
	s.sql.Abandon(conn, errors.New("late"))
	wantVersions(t, s, ref, []byte("1"))
	put(t, s, ref, body)
	wantVersions(t, s, ref, []byte("1"), body)
}

// TestSettled finds out what became of transactions, however often it is asked.
func TestSettled(t *testing.T) { onEach(t, testSettled) }

func testSettled(t *testing.T, on kind) {
	s := nodes(t, on, 1)[0]
	token := uuid.New()
	if _, err := s.readers.Exec("INSERT INTO state_outcomes (token) VALUES (?)", token[:]); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.transactor.Settle(token, time.Now(), errors.New("lost")); err != nil {
			t.Errorf("one that has happened: %v", err)
		}
	}
	if err := s.transactor.Settle(uuid.New(), time.Now(), errors.New("lost")); !errors.Is(err, sqldb.ErrUndone) {
		t.Errorf("one that has not: %v", err)
	}
	if err := s.transactor.Settle(uuid.New(), time.Now().Add(-2*sqldb.LongestRemember), errors.New("lost")); !fault.Is(err,
		fault.StoreUnavailable) {
		t.Errorf("one that nobody remembers: %v", err)
	}
}

// TestForget removes outcomes that are old by the server's clock as well as by their tokens.
func TestForget(t *testing.T) { onEach(t, testForget) }

func testForget(t *testing.T, on kind) {
	s := nodes(t, on, 1)[0]
	add := func(made, added time.Time) uuid.UUID {
		token := sqldb.TokenAt(made)
		token[15] = 1
		if _, err := s.readers.Exec("INSERT INTO state_outcomes (token, at) VALUES (?, ?)", token[:],
			added.UTC()); err != nil {
			t.Fatal(err)
		}
		return token
	}
	now, old := time.Now(), time.Now().Add(-2*sqldb.OutcomesKept)
	gone := add(old, old)
	stays := []uuid.UUID{add(old.Add(time.Second), now), add(now, old), add(now.Add(time.Second), now)}
	if err := s.transactor.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	there := func(token uuid.UUID) (n int) {
		if err := s.readers.QueryRow("SELECT COUNT(*) FROM state_outcomes WHERE token = ?", token[:]).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if there(gone) != 0 {
		t.Error("an old outcome is there")
	}
	for i, token := range stays {
		if there(token) != 1 {
			t.Errorf("outcome %d is gone", i)
		}
	}
}

// TestSessions holds the server to ending what a silent node has locked before others give up, and
// the node to ending idle sessions before the server does.
func TestSessions(t *testing.T) {
	s := nodes(t, onMySQL, 1)[0]
	for setting, want := range map[string]string{"wait_timeout": "10", "autocommit": "0", "net_read_timeout": "10",
		"innodb_lock_wait_timeout": "10"} {
		var got string
		if err := s.writers.QueryRow("SELECT @@" + setting).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", setting, got, err, want)
		}
	}
	if sqldb.InsistFor < 2*mysqldb.LockWait {
		t.Errorf("a change gives up after %v, before a silent session ends", sqldb.InsistFor)
	}
}

// TestFirstLocksOfNodes has nodes fight for the locks of states that nobody has heard of before, and release them at
// once: one at a time has each.
func TestFirstLocksOfNodes(t *testing.T) { onEach(t, testFirstLocksOfNodes) }

func testFirstLocksOfNodes(t *testing.T, on kind) {
	stores, org, held := nodes(t, on, 3), uuid.New(), errors.New("held")
	for n := range 60 {
		ref := state.Ref{Org: org, Name: state.Name(fmt.Sprint("new-", n))}
		var wg sync.WaitGroup
		for i, s := range stores {
			wg.Go(func() {
				for turn := range 4 {
					if err := takeAndRelease(s, ref, fmt.Sprint(i, "-", turn), held); err != nil && !errors.Is(err, held) {
						t.Errorf("%s: %v", ref.Name, err)
					}
				}
			})
		}
		wg.Wait()
	}
}

// takeAndRelease takes a state's lock, unless it is held, and releases it, unless it is another one by then.
func takeAndRelease(s *Store, ref state.Ref, id string, held error) error {
	lock := &state.Lock{Info: state.LockInfo{ID: id, Raw: []byte("{}")}, Since: time.Now(), Seen: time.Now()}
	_, err := s.Update(context.Background(), ref, nil, func(h state.Head) (state.Change, error) {
		if h.Lock != nil {
			return state.Change{}, held
		}
		return state.Change{Lock: lock}, nil
	})
	if err != nil {
		return err
	}
	_, err = s.Update(context.Background(), ref, nil, func(h state.Head) (state.Change, error) {
		if h.Lock == nil || h.Lock.Info.ID != id {
			return state.Change{}, fmt.Errorf("%s has taken the lock, and %+v is there", id, h.Lock)
		}
		return state.Change{Release: true}, nil
	})
	return err
}
