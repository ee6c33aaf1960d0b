package states

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
	"github.com/holdfast/holdfast/storage/mysqldb"
)

// TestSmallPackets refuses a server by the name of the setting that is too small, and stores a large
// state on one whose packets are just large enough.
func TestSmallPackets(t *testing.T) {
	suite.Deep(t)
	_, d := mysqltest.Private(t, "--max-allowed-packet=2M")
	if _, err := Open(t.Context(), mysqlOptions(d)); err == nil ||
		!strings.Contains(err.Error(), "max_allowed_packet is 2097152") {
		t.Errorf("opened: %v", err)
	}
	large := leastPacket - leastPacket%1024
	if err := d.Address.Exec(t.Context(), "", fmt.Sprint("SET GLOBAL max_allowed_packet = ", large)); err != nil {
		t.Fatal(err)
	}
	s, ref := open(t, mysqlOptions(d)), newRef("large")
	body := make([]byte, 100<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(body)
	copy(body[:pieceBytes], bytes.Repeat([]byte{0, '\''}, pieceBytes/2)) // of which every byte is quoted
	put(t, s, ref, body)
	wantVersions(t, s, ref, body)
}

// TestReadOnlyServer refuses a server that takes no writes, by the name of its setting.
func TestReadOnlyServer(t *testing.T) {
	suite.Deep(t)
	_, d := mysqltest.Private(t)
	admin := d
	user := "CREATE USER IF NOT EXISTS limited@'%' IDENTIFIED BY 'limited'"
	if err := admin.Address.Exec(t.Context(), "", user, "CREATE DATABASE holdfast_test",
		"GRANT ALL ON holdfast_test.* TO limited@'%'"); err != nil {
		t.Fatal(err)
	}
	d.User, d.Password = "limited", "limited"
	s, ref := open(t, mysqlOptions(d)), newRef("kept")
	put(t, s, ref, []byte("{}"))
	if err := admin.Address.Exec(t.Context(), "", "SET GLOBAL read_only = 1"); err != nil {
		t.Fatal(err)
	}
	s.ready = newProbe()
	if err := s.Ready(t.Context()); !fault.Is(err, fault.StoreUnavailable) || !strings.Contains(err.Error(), "read_only") {
		t.Errorf("Ready: %v", err)
	}
	if _, err := s.Update(t.Context(), ref, []byte("[]"), write([]byte("[]"))); !fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("Update: %v", err)
	}
	wantNothingRead(t, s, ref)
	other := mysqlOptions(d)
	other.MySQL.Name = "holdfast_other"
	if err := admin.Address.Exec(t.Context(), "", "CREATE DATABASE holdfast_other",
		"GRANT ALL ON holdfast_other.* TO limited@'%'"); err != nil {
		t.Fatal(err)
	}
	other.StartupWait = time.Second
	if _, err := Open(t.Context(), other); err == nil || !strings.Contains(err.Error(), "read_only") {
		t.Errorf("a read-only server was opened: %v", err)
	}
	if err := admin.Address.Exec(t.Context(), "", "SET GLOBAL read_only = 0"); err != nil {
		t.Fatal(err)
	}
	s.ready = newProbe()
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("Ready, when it takes writes again: %v", err)
	}
	put(t, s, ref, []byte("[]"))
}

// TestServerThatRepeatsStatements refuses a server that would refuse our writes, by the name of its setting.
func TestServerThatRepeatsStatements(t *testing.T) {
	suite.Deep(t)
	_, d := mysqltest.Private(t, "--log-bin=log", "--binlog-format=STATEMENT")
	if _, err := Open(t.Context(), mysqlOptions(d)); err == nil || !strings.Contains(err.Error(), "binlog_format") {
		t.Errorf("it was opened: %v", err)
	}
}

// wantNothingRead wants that a server that takes no writes is not asked what is newest: another one may have
// what is newer.
func wantNothingRead(t *testing.T, s *Store, ref state.Ref) {
	t.Helper()
	absent := newRef("absent")
	for name, read := range map[string]func() error{
		"Head":    func() error { _, err := s.Head(t.Context(), ref); return err },
		"Current": func() error { _, err := s.Current(t.Context(), ref); return err },
		"Version": func() error { _, err := s.Version(t.Context(), ref, 1); return err },
		"Newest":  func() error { _, err := s.Newest(t.Context(), []state.Ref{ref}); return err },
		"two":     func() error { _, err := s.Newest(t.Context(), []state.Ref{absent, ref}); return err },
		"absent":  func() error { _, err := s.Current(t.Context(), absent); return err },
		"unknown": func() error { _, err := s.Head(t.Context(), absent); return err },
	} {
		if err := read(); !fault.Is(err, fault.StoreUnavailable) || !strings.Contains(err.Error(), "read_only") {
			t.Errorf("%s: %v, want store_unavailable because of read_only", name, err)
		}
	}
}

// TestServerKilled kills the server under load: what was acknowledged is there afterwards, once.
func TestServerKilled(t *testing.T) {
	suite.Deep(t)
	server, d := mysqltest.Private(t)
	s := open(t, mysqlOptions(d))
	refs := []state.Ref{newRef("a"), newRef("b"), newRef("c")}
	ctx, stop := context.WithCancel(context.Background())
	acknowledged := make([]map[uint64]string, len(refs))
	done := make(chan int)
	for i, ref := range refs {
		acknowledged[i] = map[uint64]string{}
		go func() {
			for n := 0; ctx.Err() == nil; n++ {
				body := fmt.Sprint(i, " ", n)
				head, err := s.Update(context.Background(), ref, []byte(body), write([]byte(body)))
				switch {
				case err == nil:
					acknowledged[i][head.Version.Number] = body
				case !fault.Is(err, fault.StoreUnavailable):
					t.Errorf("%v, want store_unavailable", err)
				}
			}
			done <- i
		}()
	}
	for range 2 {
		time.Sleep(400 * time.Millisecond)
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := server.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(400 * time.Millisecond)
	stop()
	for range refs {
		<-done
	}
	for i, ref := range refs {
		head, err := s.Head(t.Context(), ref)
		if err != nil || len(acknowledged[i]) < 3 {
			t.Fatal(len(acknowledged[i]), err)
		}
		var bodies [][]byte
		seen := map[string]bool{}
		for n := range head.Version.Number {
			got, err := s.Version(t.Context(), ref, n+1)
			if err != nil || seen[string(got.Body)] {
				t.Fatalf("version %d is %q, which was there before: %v", n+1, got.Body, err)
			}
			seen[string(got.Body)] = true
			if want, ok := acknowledged[i][n+1]; ok && want != string(got.Body) {
				t.Errorf("version %d is %q, and %q was acknowledged", n+1, got.Body, want)
			}
			delete(acknowledged[i], n+1)
			bodies = append(bodies, got.Body)
		}
		if len(acknowledged[i]) > 0 {
			t.Errorf("%d versions that were acknowledged are gone", len(acknowledged[i]))
		}
		wantVersions(t, s, ref, bodies...)
	}
}

// TestSchema takes the migrations' steps again, as after one that was cut off, and refuses a database
// that a newer program has made, and one from before the baseline.
func TestSchema(t *testing.T) {
	d := mysqltest.New(t)
	s, ref := opened(t, mysqlOptions(d)), newRef("kept")
	put(t, s, ref, []byte("{}"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	d.Exec(t, "DELETE FROM "+schemaTable+" WHERE version_id > 0")
	s = opened(t, mysqlOptions(d))
	wantVersions(t, s, ref, []byte("{}"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	d.Exec(t, "INSERT INTO "+schemaTable+" (version_id, is_applied) VALUES (999, 1)")
	if _, err := Open(t.Context(), mysqlOptions(d)); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("opened: %v", err)
	}
	d.Exec(t, "DELETE FROM "+schemaTable+" WHERE version_id > 0")
	d.Exec(t, "INSERT INTO "+schemaTable+" (version_id, is_applied) VALUES (5, 1)")
	if _, err := Open(t.Context(), mysqlOptions(d)); err == nil || !strings.Contains(err.Error(), `"holdfast export"`) {
		t.Errorf("opened: %v", err)
	}
}

// TestExhaustedPool has all connections in use by something else: calls say so in a bounded time, and
// never that there is no such state.
func TestExhaustedPool(t *testing.T) {
	o := onMySQL.new(t).options()
	o.MySQL.MaxOpenConns = 2
	s, ref := open(t, o), newRef("pool")
	put(t, s, ref, []byte("{}"))
	var held []interface{ Close() error }
	for range 2 {
		for _, db := range []interface {
			Conn(context.Context) (*sql.Conn, error)
		}{s.writers, s.readers} {
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, conn)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Current(ctx, ref); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Current: %v", err)
	}
	if _, err := s.connection(ctx); !mysqldb.IsAway(err) {
		t.Errorf("a connection to write: %v", err)
	}
	for _, conn := range held {
		_ = conn.Close()
	}
	wantVersions(t, s, ref, []byte("{}"))
}
