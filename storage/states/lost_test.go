package states

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// failover is a database of which the test has what a replica would have that was some time behind.
type failover struct {
	*testing.T
	server interface {
		Kill() error
		Run(ctx context.Context) error
		Saved() (back func() error, err error)
	}
	d    database
	back func() error
}

func (f *failover) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// saves has the replica be where the database is now.
func (f *failover) saves() {
	f.Helper()
	f.must(f.server.Kill())
	back, err := f.server.Saved()
	f.must(err)
	f.back = back
	f.must(f.server.Run(f.Context()))
}

// happens has the replica take over.
func (f *failover) happens() {
	f.Helper()
	f.must(f.server.Kill())
	f.must(f.back())
	f.must(f.server.Run(f.Context()))
}

func newFailover(t *testing.T, on kind) *failover {
	suite.Deep(t)
	if on == onPostgres {
		server, url := pgtest.Private(t)
		return &failover{T: t, server: server, d: database{kind: on, url: url}}
	}
	server, d := mysqltest.Private(t)
	return &failover{T: t, server: server, d: database{kind: on, mysql: d}}
}

// wantRewound holds a state to being refused in all ways, by the version that is gone.
func wantRewound(t *testing.T, s *Store, ref state.Ref, version string) {
	t.Helper()
	_, current := s.Current(t.Context(), ref)
	_, first := s.Version(t.Context(), ref, 1)
	_, update := s.Update(t.Context(), ref, []byte("again"), write([]byte("again")))
	for what, err := range map[string]error{"Current": current, "Version": first, "Update": update} {
		f := fault.From(err)
		if f.Code != fault.StateRewound || f.RetryAfter == 0 || !strings.Contains(err.Error(), version) {
			t.Errorf("%s: %v (%s), want %s", what, err, f.Code, version)
		}
	}
	tips, err := s.Newest(t.Context(), []state.Ref{ref})
	if err != nil || tips[0] != (state.Tip{}) {
		t.Errorf("Newest: %+v, %v", tips, err)
	}
}

// TestFailover leads to a replica that has lost the last transactions. States of which changes are gone are
// refused on all nodes, the others are served; it is told which; and goes on when somebody has said
// that what is there counts.
func TestFailover(t *testing.T) { onEach(t, testFailover) }

func testFailover(t *testing.T, on kind) {
	f := newFailover(t, on)
	var log bytes.Buffer
	o := f.d.options()
	o.Log, o.AckFile = slog.New(slog.NewTextHandler(&log, nil)), filepath.Join(t.TempDir(), "acks")
	a, b := opened(t, o), open(t, f.d.options())
	org := uuid.New()
	lost, fresh, kept := state.Ref{Org: org, Name: "lost"}, state.Ref{Org: org, Name: "fresh"},
		state.Ref{Org: org, Name: "kept"}
	put(t, a, lost, []byte("one"))
	put(t, a, kept, []byte("kept"))
	f.saves()
	put(t, a, lost, []byte("two"))
	put(t, a, lost, []byte("three"))
	put(t, a, fresh, []byte("fresh"))
	f.happens()

	wantRewound(t, a, lost, "version 3 of this state")
	wantRewound(t, a, fresh, "version 1 of this state")
	if got, err := a.Current(t.Context(), kept); err != nil || string(got.Body) != "kept" {
		t.Errorf("a state that lost nothing: %q, %v", got.Body, err)
	}
	put(t, a, kept, []byte("more"))
	f.must(a.followRewinds(t.Context()))
	f.must(b.followRewinds(t.Context())) // as each node does every second
	wantRewound(t, b, lost, "version 3")
	wantRewound(t, b, fresh, "version 1")

	a.ready = newProbe()
	if err := a.Ready(t.Context()); !fault.Is(err, fault.StoreDegraded) || !strings.Contains(err.Error(), "2 states") {
		t.Errorf("Ready: %v", err)
	}
	if totals, err := b.Totals(t.Context()); err != nil || totals.Rewound != 2 {
		t.Errorf("Totals: %+v, %v", totals, err)
	}
	page, err := b.Events(t.Context(), org, audit.Query{Action: audit.StateRewind, Limit: 9})
	if err != nil || len(page.Events) != 2 {
		t.Fatalf("%d events, %v", len(page.Events), err)
	}
	for _, e := range page.Events {
		if e.State == "lost" && (e.Version != 3 || !strings.Contains(e.Note, "has version 1")) {
			t.Errorf("the log of %s says %+v", lost.Name, e)
		}
	}
	for _, version := range []string{"state=lost version=2", "state=lost version=3", "state=fresh version=1"} {
		if !strings.Contains(log.String(), version) {
			t.Errorf("the log does not name %s:\n%s", version, log.String())
		}
	}

	// Also for its next process, and until an operator has decided.
	f.must(a.Close())
	a = open(t, o)
	wantRewound(t, a, lost, "version 3")
	f.d.exec(t, "DELETE FROM state_rewinds")
	f.must(a.followRewinds(t.Context()))
	f.must(b.followRewinds(t.Context()))
	wantVersions(t, a, lost, []byte("one"))
	put(t, b, lost, []byte("two again"))
	wantVersions(t, a, lost, []byte("one"), []byte("two again"))
	put(t, a, fresh, []byte("fresh"))
}

// TestFailoverWhileStopped happens while the only node that knows is stopped: its file tells the next
// process, also when the last line of it was cut off.
func TestFailoverWhileStopped(t *testing.T) { onEach(t, testFailoverWhileStopped) }

func testFailoverWhileStopped(t *testing.T, on kind) {
	f := newFailover(t, on)
	o, ref := f.d.options(), newRef("lost")
	o.AckFile = filepath.Join(t.TempDir(), "acks")
	s := opened(t, o)
	put(t, s, ref, []byte("one"))
	f.saves()
	put(t, s, ref, []byte("two"))
	f.must(s.Close())
	file, err := os.OpenFile(o.AckFile, os.O_WRONLY|os.O_APPEND, 0)
	f.must(err)
	_, err = file.WriteString(`{"token":"0`)
	f.must(err)
	f.must(file.Close())
	f.happens()
	wantRewound(t, open(t, o), ref, "version 2 of this state")
	wantRewound(t, open(t, f.d.options()), ref, "version 2") // a node that knew nothing of it
}

// TestWriteIsFirstAfterFailover: a write that is the first to reach the new server is refused as a read would
// be, whether it was begun before or after; and what was lost is still known to the node's next process,
// though this one could not tell the database.
func TestWriteIsFirstAfterFailover(t *testing.T) { onEach(t, testWriteIsFirstAfterFailover) }

func testWriteIsFirstAfterFailover(t *testing.T, on kind) {
	f := newFailover(t, on)
	o, ref := f.d.options(), newRef("lost")
	o.AckFile = filepath.Join(t.TempDir(), "acks")
	s := opened(t, o)
	put(t, s, ref, []byte("one"))
	f.saves()
	put(t, s, ref, []byte("two"))
	f.happens()
	_, err := s.Update(t.Context(), ref, []byte("three"), write([]byte("three")))
	if !fault.Is(err, fault.StateRewound) {
		t.Errorf("the first write: %v", err)
	}
	s.acks.mu.Lock()
	left, err := os.ReadFile(o.AckFile)
	s.acks.mu.Unlock()
	f.must(err)
	if !strings.Contains(string(left), `"number":2`) {
		t.Errorf("the file has forgotten what nobody was told: %s", left)
	}
	f.must(s.followRewinds(t.Context()))
	if left, err := os.ReadFile(o.AckFile); err != nil || strings.Contains(string(left), `"number":2`) {
		t.Errorf("the file still has what was told: %s, %v", left, err)
	}
	f.must(s.Close())
	wantRewound(t, open(t, o), ref, "version 2")
}

// TestBehindIsNotLost: a server that takes no writes yet, and has not got the last transactions, refuses
// nothing for good: it may get them.
func TestBehindIsNotLost(t *testing.T) {
	suite.Deep(t)
	server, d := mysqltest.Private(t, "--read-only") // as a replica starts
	f := &failover{T: t, server: server, d: database{kind: onMySQL, mysql: d}}
	writes := func() { f.must(server.Exec(t.Context(), "", "SET GLOBAL read_only = 0")) }
	writes()
	s, ref := open(t, f.d.options()), newRef("behind")
	put(t, s, ref, []byte("one"))
	f.saves()
	writes()
	put(t, s, ref, []byte("two"))
	f.happens()
	if _, err := s.Current(t.Context(), ref); err == nil || fault.Is(err, fault.StateRewound) {
		t.Errorf("from a server that is behind: %v", err)
	}
	if n := s.rewinds.count(); n != 0 {
		t.Errorf("%d states are refused", n)
	}
	writes()
	wantRewound(t, s, ref, "version 2") // it never got it
}

// TestLostLock notices a lock that is gone, which is no version.
func TestLostLock(t *testing.T) { onEach(t, testLostLock) }

func testLostLock(t *testing.T, on kind) {
	f := newFailover(t, on)
	s, ref := open(t, f.d.options()), newRef("locked")
	put(t, s, ref, []byte("one"))
	f.saves()
	lock := &state.Lock{Info: state.LockInfo{ID: "a", Raw: []byte("{}")}, Since: time.Now(), Seen: time.Now()}
	_, err := s.Update(t.Context(), ref, nil, func(state.Head) (state.Change, error) {
		return state.Change{Lock: lock}, nil
	})
	f.must(err)
	f.happens()
	wantRewound(t, s, ref, "a change of this state")
}

// TestDurableServer: a node says which settings have readers see what a crash takes back.
func TestDurableServer(t *testing.T) {
	suite.Deep(t)
	for args, want := range map[string]string{
		"": "log_bin = 0", "--sync-binlog=0": "sync_binlog = 0", "--sync-binlog=1": "",
	} {
		var more []string
		if args != "" {
			more = []string{"--log-bin=binlog", "--server-id=1", args}
		} else {
			more = []string{"--skip-log-bin"}
		}
		_, d := mysqltest.Private(t, more...)
		var log bytes.Buffer
		o := mysqlOptions(d)
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		open(t, o)
		warned := strings.Contains(log.String(), "may take back")
		if warned != (want != "") || !strings.Contains(log.String(), want) {
			t.Errorf("%q: the log says %s", args, log.String())
		}
	}
}

// TestAcks: what is old is not looked for, since its outcome may be forgotten; what is much is dropped, the
// oldest first; and what was an organization's that is shredded goes from the file too.
func TestAcks(t *testing.T) {
	file, now, org := filepath.Join(t.TempDir(), "acks"), time.Now(), uuid.New()
	a, err := openAcks(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * mostAcks {
		one := ack{Token: uuid.New(), Org: org, Name: "s", Number: uint64(i), At: now.Add(time.Duration(i) * time.Second)}
		if err := a.add(one); err != nil {
			t.Fatal(err)
		}
	}
	if a.lines > 2*mostAcks || len(a.all) > 2*mostAcks {
		t.Errorf("%d lines, %d are remembered", a.lines, len(a.all))
	}
	end := now.Add(3 * mostAcks * time.Second)
	some := a.newest(2, end)
	if len(some) != 2 || some[0].Number != 3*mostAcks-1 || some[1].Number != 3*mostAcks-2 {
		t.Errorf("the newest are %+v", some)
	}
	if some := a.newest(mostAcks, end); len(some) > int(ackAge.Seconds())+1 {
		t.Errorf("%d are looked for", len(some))
	}
	if some := a.newest(1, end.Add(2*ackAge)); len(some) != 0 {
		t.Errorf("looked for after hours: %+v", some)
	}
	if err := a.forget(func(one ack) bool { return one.Org == org }); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || len(text) > 0 {
		t.Errorf("the file has %d bytes, %v", len(text), err)
	}
	if sqldb.OutcomesKept < 2*ackAge {
		t.Errorf("outcomes are kept for %v, and looked for for %v", sqldb.OutcomesKept, ackAge)
	}
}
