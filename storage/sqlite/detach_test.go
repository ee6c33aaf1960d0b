package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

func mustPurge(t *testing.T, s *Store, ref state.Ref, number int) {
	t.Helper()
	if err := s.Purge(t.Context(), ref, uint64(number), audit.Event{}); err != nil {
		t.Fatal(err)
	}
}

// TestPurgeOfBase purges every version in turn, bases and deltas, in every order: its bytes
// are gone from the files, and the others are whole.
func TestPurgeOfBase(t *testing.T) {
	for name, order := range map[string][]int{
		"first to last": nil, "random": rand.Perm(50), "base first": {0, 31, 32, 1, 30, 49},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "base first" {
				suite.Deep(t)
			}
			dir, ref := t.TempDir(), newRef("purged")
			s := open(t, dir)
			defer s.Close()
			all, secrets := secretly(50)
			putAll(t, s, ref, all)
			if n := count(t, s, sqlDeltas); n < 45 {
				t.Fatalf("%d deltas", n)
			}
			if order == nil {
				for i := range all {
					order = append(order, i)
				}
			}
			for i, victim := range order {
				mustPurge(t, s, ref, victim+1)
				all[victim] = nil
				if i%7 == 0 || i == len(order)-1 {
					wantHistory(t, s, ref, all, fault.VersionPurged)
				}
				wantGone(t, s, dir, []stateengine.Stored{{Encoding: stateengine.EncodingRaw, Bytes: secrets[victim]}})
			}
			mustPut(t, s, ref, []byte("{}"))
		})
	}
}

// TestPurgeOfNeeded has a version become a base after its deltas were stored anew, and the
// base of those go away: the transactions see it, and do nothing.
func TestPurgeOfNeeded(t *testing.T) {
	s, _ := opened(t)
	ref, all := newRef("needed"), slowly(20_000, 3)
	putAll(t, s, ref, all)
	d, err := s.Dependent(t.Context(), ref, 1, 0)
	if err != nil || d == nil || d.Version.Number != 3 {
		t.Fatalf("the last delta of version 1 is %+v, %v", d, err)
	}
	err = s.transact(t.Context(), server(), func(t2 *session) error {
		if needed, _, err := t2.purge(ref, 1, audit.Event{}); err != nil || !needed {
			t.Errorf("needed %v, %v", needed, err)
		}
		gone := &stateengine.Base{BaseID: stateengine.BaseID{ID: 99, Number: 2}}
		there, err := t2.replace(ref, d,
			stateengine.Stored{Encoding: stateengine.EncodingDelta, Bytes: d.Kept.Bytes, Base: gone.BaseID}, gone)
		if there {
			t.Error("a delta was stored whose base isn't there")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	wantHistory(t, s, ref, all, "")
}

// TestPurgesTogether purges a whole group at once, but for a few.
func TestPurgesTogether(t *testing.T) {
	s, _ := opened(t)
	ref, all := newRef("together"), slowly(20_000, 30)
	putAll(t, s, ref, all)
	var purges sync.WaitGroup
	for i := range all {
		if i%7 == 3 {
			continue
		}
		all[i] = nil
		purges.Go(func() {
			if err := s.Purge(context.Background(), ref, uint64(i+1), audit.Event{}); err != nil {
				t.Errorf("version %d: %v", i+1, err)
			}
		})
	}
	purges.Wait()
	wantHistory(t, s, ref, all, fault.VersionPurged)
}

// TestPurgeBesideWriters purges what others write deltas of at that moment, and read.
func TestPurgeBesideWriters(t *testing.T) {
	s, _ := opened(t)
	ref, all := newRef("beside"), slowly(20_000, 200)
	mustPut(t, s, ref, all[0])
	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	others.Go(func() {
		for ctx.Err() == nil {
			number := rand.IntN(len(all)) + 1
			got, err := s.Version(ctx, ref, uint64(number))
			if err == nil && !bytes.Equal(got.Body, all[number-1]) || fault.Is(err, fault.StateCorrupt) {
				t.Errorf("version %d: %d bytes, %v", number, len(got.Body), err)
			}
		}
	})
	purged := make(chan int, len(all))
	others.Go(func() {
		for number := range purged {
			if err := s.Purge(context.Background(), ref, uint64(number), audit.Event{}); err != nil {
				t.Errorf("version %d: %v", number, err)
			}
		}
		stop()
	})
	left := bytesOf(all)
	for i, body := range all[1:] {
		mustPut(t, s, ref, body)
		if b := s.bodies.Bases.Get(ref); b != nil && i%5 == 0 && left[b.Number-1] != nil {
			left[b.Number-1] = nil
			purged <- int(b.Number)
		}
	}
	close(purged)
	others.Wait()
	wantHistory(t, s, ref, left, fault.VersionPurged)
}

func bytesOf(all [][]byte) [][]byte { return append([][]byte(nil), all...) }

// TestCrashedPurge stops a purge before each of its steps. There, and after a crash there,
// every version is whole, and a second purge does what is left.
func TestCrashedPurge(t *testing.T) {
	all := slowly(20_000, 8)
	for left := range len(all) {
		s, _ := opened(t)
		ref := newRef("crashed")
		putAll(t, s, ref, all)
		execFile(t, filepath.Dir(s.path), fmt.Sprintf(`CREATE TRIGGER stop BEFORE UPDATE ON bodies
			WHEN (SELECT count(*) FROM bodies WHERE base = 1) <= %d BEGIN SELECT raise(ABORT, 'stop'); END`, left))
		err := s.Purge(t.Context(), ref, 1, audit.Event{})
		if stopped := left > 0; stopped != (err != nil) {
			t.Fatalf("with %d deltas left: %v", left, err)
		}
		if n := count(t, s, "SELECT count(*) FROM bodies WHERE base = 1"); n != left {
			t.Fatalf("%d deltas are left, want %d", n, left)
		}
		want := bytesOf(all)
		if left == 0 {
			want[0] = nil
		}
		after := crashed(t, s)
		for _, store := range []*Store{s, after} {
			wantHistory(t, store, ref, want, fault.VersionPurged)
			execFile(t, filepath.Dir(store.path), "DROP TRIGGER stop")
			mustPurge(t, store, ref, 1)
			wantHistory(t, store, ref, append([][]byte{nil}, all[1:]...), fault.VersionPurged)
		}
		if err := after.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPruneAcrossBases keeps the last versions while others come: whatever they are deltas
// of is theirs. A group is stored anew once, not with each version that goes.
func TestPruneAcrossBases(t *testing.T) {
	suite.Deep(t)
	for _, keep := range []int{1, 5, 40} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			s, _ := opened(t)
			ref, all := newRef("pruned"), slowly(20_000, 150)
			left := make([][]byte, 0, len(all))
			before := s.writer.Commits()
			for i, body := range all {
				mustPut(t, s, ref, body)
				left = append(left, body)
				if i < keep {
					continue
				}
				removed, err := s.Prune(t.Context(), ref, state.Pruning{Below: uint64(i - keep + 2), Limit: 9}, audit.Event{})
				if err != nil || removed != 1 {
					t.Fatalf("%d versions removed, %v", removed, err)
				}
				left[i-keep] = nil
				wantSound(t, s)
			}
			wantHistory(t, s, ref, left, fault.StateNotFound)
			if n := s.writer.Commits() - before; n > int64(4*len(all)) {
				t.Errorf("%d commits for %d writes and as many prunes", n, len(all))
			}
		})
	}
}

// TestPruneInOne removes many versions at once, within a group and over several.
func TestPruneInOne(t *testing.T) {
	for _, limit := range []int{1, 7, 31, 33, 70, 98} {
		s, _ := opened(t)
		ref, all := newRef("pruned"), slowly(20_000, 100)
		putAll(t, s, ref, all)
		removed, err := s.Prune(t.Context(), ref, state.Pruning{Below: 1 << 40, Limit: limit}, audit.Event{})
		if err != nil || removed != limit {
			t.Fatalf("%d versions removed, %v; want %d", removed, err, limit)
		}
		clear(all[:limit])
		wantHistory(t, s, ref, all, fault.StateNotFound)
	}
}

// TestExpungeOfDeltas takes a state away in pieces, bases before what is a delta of them.
func TestExpungeOfDeltas(t *testing.T) {
	s, _ := opened(t)
	ref, other, all := newRef("gone"), newRef("stays"), slowly(20_000, 70)
	putAll(t, s, ref, all)
	putAll(t, s, other, all)
	expunge(t, s, ref)
	if n := count(t, s, "SELECT count(*) FROM bodies"); n != len(all) {
		t.Errorf("%d bodies are left", n)
	}
	wantHistory(t, s, other, all, "")
	putAll(t, s, ref, all[:40])
	wantHistory(t, s, ref, all[:40], "")
}

// TestDetachGivesUp has a row that can't be stored anew.
func TestDetachGivesUp(t *testing.T) {
	s, _ := opened(t)
	ref := newRef("stuck")
	putAll(t, s, ref, slowly(20_000, 3))
	execFile(t, filepath.Dir(s.path), `CREATE TRIGGER stuck BEFORE UPDATE ON bodies BEGIN SELECT raise(IGNORE); END`)
	wantFault(t, s.Purge(t.Context(), ref, 1, audit.Event{}), fault.StoreUnavailable)
	_, err := s.Version(t.Context(), ref, 1)
	if err != nil {
		t.Errorf("version 1: %v", err)
	}
}
