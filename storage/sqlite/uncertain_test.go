package sqlite

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// crashed opens what a crash of the process at this moment would leave.
func crashed(t *testing.T, s *Store) *Store {
	t.Helper()
	return open(t, sqlitetest.CopyAsCrash(t, filepath.Dir(s.path)))
}

// wantAfterCrash wants this body, in the store and in what a crash would leave of it.
func wantAfterCrash(t *testing.T, s *Store, ref state.Ref, want []byte) {
	t.Helper()
	wantBody(t, s, ref, want)
	after := crashed(t, s)
	defer after.Close()
	wantBody(t, after, ref, want)
}

// TestFailedCommit fails the fsync of a commit, whose record is in the WAL then: a crash
// must not bring about what was refused, whatever its size.
func TestFailedCommit(t *testing.T) {
	for name, size := range map[string]int{"small": 10, "large": 500_000} {
		t.Run(name, func(t *testing.T) {
			s, _ := opened(t)
			ref, conn := newRef("failed"), s.session.conn
			mustPut(t, s, ref, []byte("{}"))
			failSyncs(t, s).Store(1)
			_, err := put(s, ref, noise(size))
			wantFault(t, err, fault.StoreUnavailable)
			if s.session.conn == conn {
				t.Error("the connection is still the one that failed")
			}
			wantAfterCrash(t, s, ref, []byte("{}"))
			mustPut(t, s, ref, []byte("[]"))
			wantAfterCrash(t, s, ref, []byte("[]"))
		})
	}
}

// TestFailedBatch fails the fsync that several updates share: the second try has them all.
func TestFailedBatch(t *testing.T) {
	s, _ := opened(t)
	orgs := newOrgs(10)
	refs, release := make([]state.Ref, len(orgs)), hold(t, s, orgs...)
	var wg sync.WaitGroup
	for i, org := range orgs {
		refs[i] = state.Ref{Org: org, Name: "batch"}
		wg.Go(func() {
			if _, err := put(s, refs[i], []byte("{}")); err != nil {
				t.Error(err)
			}
		})
	}
	waitQueued(t, s, len(refs))
	failSyncs(t, s).Store(1) // the job that holds the writer writes nothing, and syncs nothing
	release()
	wg.Wait()
	after := crashed(t, s)
	defer after.Close()
	for _, ref := range refs {
		wantBody(t, s, ref, []byte("{}"))
		wantBody(t, after, ref, []byte("{}"))
	}
}

// TestDiskKeepsFailing wants no decision to be asked while a failed commit could not be
// overwritten, and all to be well afterwards.
func TestDiskKeepsFailing(t *testing.T) {
	s, clock := opened(t)
	ref := newRef("failing")
	mustPut(t, s, ref, []byte("{}"))
	failing := failSyncs(t, s)
	failing.Store(1 << 30)
	_, err := put(s, ref, noise(500_000))
	wantFault(t, err, fault.StoreUnavailable)
	_, err = s.Update(t.Context(), ref, nil, func(state.Head) (state.Change, error) {
		t.Error("a decision was asked")
		return state.Change{}, nil
	})
	wantFault(t, err, fault.StoreUnavailable)
	wantFault(t, s.Ready(t.Context()), fault.StoreUnavailable)
	wantBody(t, s, ref, []byte("{}"))
	failing.Store(0)
	clock.Add(stateengine.ReadyFor)
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantAfterCrash(t, s, ref, []byte("{}"))
	mustPut(t, s, ref, []byte("[]"))
	wantAfterCrash(t, s, ref, []byte("[]"))
}

// TestCloseUncertain fails a commit that can't be overwritten at once, because the file
// isn't there, and closes the store when it is.
func TestCloseUncertain(t *testing.T) {
	dir := t.TempDir()
	s, ref, body := open(t, dir), newRef("closed"), noise(50_000)
	mustPut(t, s, ref, []byte("{}"))
	failSyncs(t, s).Store(1)
	path := s.path
	_, err := s.Update(t.Context(), ref, body, func(h state.Head) (state.Change, error) {
		if err := os.Rename(path, path+".away"); err != nil {
			t.Error(err)
		}
		return accept(describe(body))(h)
	})
	wantFault(t, err, fault.StoreUnavailable)
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	wantBody(t, s, ref, []byte("{}"))
}
