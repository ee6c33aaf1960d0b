package states

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/bench/sample"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// BenchmarkCycles makes cycles of LOCK, a write and UNLOCK with many clients, each on states of its
// own, and beside it, in turns, the least that the same server does for the same rows: prepared
// statements, one transaction for each call, as many connections as clients.
//
//	scripts/mysql.sh go test ./storage/states -run '^$' -bench Cycles -benchtime 1000x
func BenchmarkCycles(b *testing.B) {
	for _, size := range []int{10_000, 100_000, 1_000_000} {
		for _, clients := range []int{16, 64} {
			b.Run(fmt.Sprintf("%dKB/%d", size/1000, clients), func(b *testing.B) {
				o := onMySQL.new(b).options()
				o.MySQL.MaxOpenConns = clients
				s := open(b, o)
				f := newFloor(b, s, size, clients)
				w := newWork(s, size, clients)
				w.warm(b)
				f.stored = w.stored(b)
				var ours, floor time.Duration
				const turns = 4
				for range turns {
					ours += together(b, clients, b.N/turns, w.cycle)
					floor += together(b, clients, b.N/turns, f.cycle)
				}
				done := float64(b.N / turns * turns)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(done/ours.Seconds(), "cycles/s")
				b.ReportMetric(done/floor.Seconds(), "floor/s")
				b.ReportMetric(floor.Seconds()/ours.Seconds(), "of-floor")
				b.ReportMetric(float64(f.stored), "B/version")
			})
		}
	}
}

// together has clients do so many cycles, and returns how long they took.
func together(b *testing.B, clients, cycles int, cycle func(client int) error) time.Duration {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(cycles))
	var wg sync.WaitGroup
	began := time.Now()
	for client := range clients {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := cycle(client); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(began)
}

// work is what clients do by way of the store.
type work struct {
	s      *Store
	refs   []state.Ref
	bodies []*sample.State
	locks  []int
}

func newWork(s *Store, size, clients int) *work {
	w := &work{s: s, locks: make([]int, clients)}
	for i := range clients {
		w.refs = append(w.refs, state.Ref{Org: uuid.New(), Name: "prod/network"})
		w.bodies = append(w.bodies, sample.NewState(size, uint64(i)))
	}
	return w
}

func (w *work) warm(b *testing.B) {
	for i := range w.refs {
		if err := w.cycle(i); err != nil {
			b.Fatal(err)
		}
	}
}

// stored is how many bytes the version has that the next ones are like.
func (w *work) stored(b *testing.B) (n int) {
	for range 2 {
		if err := w.cycle(0); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.s.readers.QueryRow("SELECT stored_bytes FROM state_versions WHERE number = 3").Scan(&n); err != nil {
		b.Fatal(err)
	}
	return n
}

func event(action audit.Action) []audit.Event {
	return []audit.Event{{Action: action, LockID: "0198c0de-0000-7000-8000-000000000000", Note: "ann@laptop",
		Actor: audit.Actor{
			KeyID: "651b51068892", KeyName: "ci", Role: "owner", Address: "192.0.2.1",
			Request: "0198c0de-0000-7000-8000-000000000000"}}}
}

// plenty is a quota that is far away.
func plenty(int64, int64) error { return nil }

func (w *work) cycle(client int) error {
	ref, ctx := w.refs[client], context.Background()
	w.locks[client]++
	w.bodies[client].Change()
	body := bytes.Clone(w.bodies[client].Bytes())
	lock := &state.Lock{Info: benchInfo(fmt.Sprint(client, "-", w.locks[client])), Since: time.Now(), Seen: time.Now(),
		KeyID: "651b51068892"}
	_, err := w.s.Update(ctx, ref, nil, func(state.Head) (state.Change, error) {
		return state.Change{At: time.Now(), Lock: lock, Events: event(audit.LockTake), Allow: plenty}, nil
	})
	if err != nil {
		return err
	}
	digest := sha256.Sum256(body)
	if _, err = w.s.Update(ctx, ref, body, func(h state.Head) (state.Change, error) {
		v := benchVersion(h.Version.Number+1, len(body), digest)
		return state.Change{At: time.Now(), Version: &v, Seen: true, Events: event(audit.StateWrite), Allow: plenty}, nil
	}); err != nil {
		return err
	}
	_, err = w.s.Update(ctx, ref, nil, func(h state.Head) (state.Change, error) {
		if h.Lock == nil {
			return state.Change{}, errors.New("the lock is gone")
		}
		return state.Change{At: time.Now(), Release: true, Events: event(audit.LockRelease), Allow: plenty}, nil
	})
	return err
}

func benchInfo(id string) state.LockInfo {
	raw := fmt.Sprintf(`{"ID":%q,"Operation":"OperationTypeApply","Info":"","Who":"ann@laptop","Version":"1.9.8","Created":"2026-03-04T05:06:07.123456789Z","Path":""}`, id)
	return state.LockInfo{ID: id, Operation: "OperationTypeApply", Who: "ann@laptop", Version: "1.9.8",
		Created: "2026-03-04T05:06:07.123456789Z", Raw: []byte(raw)}
}

func benchVersion(number uint64, size int, digest state.Digest) state.Version {
	return state.Version{Number: number, Serial: 1, Lineage: "3f0c2f51-6d0a-7c0d-9a3e-0f4c1b7d2e65",
		TerraformVersion: "1.9.8", Size: int64(size), Digest: digest,
		CreatedAt: time.Now(), Author: state.Author{KeyID: "651b51068892", Address: "192.0.2.1",
			Request: "0198c0de-0000-7000-8000-000000000000", Who: "ann@laptop", Operation: "OperationTypeApply"}}
}

// floor writes the same rows to tables of the same shape, with prepared statements.
type floor struct {
	db      *sql.DB
	stored  int
	numbers []int
	bodies  []*sample.State
	prepared
}

type prepared struct{ head, lock, version, body, newest, release, lockID, event *sql.Stmt }

func newFloor(b *testing.B, s *Store, size, clients int) *floor {
	b.Helper()
	db, err := s.options.MySQL.OpenPool(s.options.MySQL.Name)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	f := &floor{db: db, numbers: make([]int, clients)}
	for _, table := range []string{"heads", "versions", "bodies", "lock_ids", "journal"} {
		if _, err := db.Exec("CREATE TABLE floor_" + table + " LIKE state_" + table); err != nil {
			b.Fatal(err)
		}
	}
	for i := range clients {
		f.bodies = append(f.bodies, sample.NewState(size, uint64(i)))
		if _, err := db.Exec("INSERT INTO floor_heads (org, name) VALUES (?, ?)", uuid.New().String(),
			fmt.Sprint(i)); err != nil {
			b.Fatal(err)
		}
	}
	set := func(columns string) string { return strings.ReplaceAll(columns, ",", " = ?,") + " = ?" }
	for _, one := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&f.head, `SELECT ` + stateengine.HeadColumns +
			` FROM floor_heads s LEFT JOIN floor_versions v ON v.state = s.id AND v.number = s.newest WHERE s.id = ? FOR UPDATE`},
		{&f.lock, `UPDATE floor_heads SET ` + set(stateengine.LockNames) + `, is_locked = 1 WHERE id = ?`},
		{&f.version, `INSERT INTO floor_versions (state, ` + stateengine.VersionNames +
			`, encoding, stored_bytes, base) VALUES ` +
			tuple(24)},
		{&f.body, `INSERT INTO floor_bodies VALUES (?, ?, ?, ?)`},
		{&f.newest, `UPDATE floor_heads SET newest = ?, lock_seen = ? WHERE id = ?`},
		{&f.release, `UPDATE floor_heads SET released_id = lock_id, ` +
			strings.ReplaceAll(stateengine.LockNames, ",", " = NULL,") + ` = NULL, is_locked = 0 WHERE id = ?`},
		{&f.lockID, `INSERT INTO floor_lock_ids VALUES (?, ?)`},
		{&f.event, `INSERT INTO floor_journal (bytes, states, locks, is_event, ` + stateengine.EventNames + `) VALUES ` +
			tuple(19)},
	} {
		if *one.to, err = db.Prepare(one.text); err != nil {
			b.Fatal(one.text, err)
		}
	}
	return f
}

func (f *floor) cycle(client int) error {
	id := client + 1
	f.numbers[client]++
	number := f.numbers[client]
	// What every server has to do with what it is sent.
	f.bodies[client].Change()
	sent := bytes.Clone(f.bodies[client].Bytes())
	digest := sha256.Sum256(sent)
	info := benchInfo(fmt.Sprint(client, "-", number))
	lock := stateengine.LockValues(&state.Lock{Info: info, Since: time.Now(), Seen: time.Now(), KeyID: "651b51068892"})
	kept := stateengine.Stored{Digest: digest[:]}
	version := append([]any{id}, stateengine.VersionValues(benchVersion(uint64(number), len(sent), digest), kept)...)
	body := make([]byte, f.stored)
	for i := range body {
		body[i] = byte(i*i>>3 + i)
	}
	return errors.Join(
		f.transaction(id, audit.LockTake, call{f.lock, append(lock, id)}),
		f.transaction(id, audit.StateWrite, call{f.version, append(version, "zstd", len(body), nil)},
			call{f.body, []any{id, number, 0, body}}, call{f.newest, []any{number, 1, id}}),
		f.transaction(id, audit.LockRelease, call{f.release, []any{id}}, call{f.lockID, []any{id, info.ID}}),
	)
}

type call struct {
	stmt *sql.Stmt
	args []any
}

func (f *floor) transaction(id int, action audit.Action, calls ...call) error {
	tx, err := f.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	rows, err := tx.Stmt(f.head).Query(id)
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	e := event(action)[0]
	e.Org = uuid.Nil
	calls = append(calls, call{f.event, append([]any{0, 0, 0, true}, stateengine.EventValues(e)...)})
	for _, c := range calls {
		if _, err := tx.Stmt(c.stmt).Exec(c.args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
