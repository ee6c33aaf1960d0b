package sqlite

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/bench/sample"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statetest"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// openDeltas opens a store that makes deltas of small bodies too, and lists of few events.
func openDeltas(t testing.TB, dir string) *Store {
	t.Helper()
	s := open(t, dir)
	s.bodies.DeltaFrom, s.session.listEvery = 1, 3
	return s
}

func TestStoreOfDeltas(t *testing.T) {
	suite.Deep(t)
	statetest.RunStore(t, func(t *testing.T) state.Store { return openDeltas(t, t.TempDir()) })
}

// openBare opens a store that has the bodies of no bases in memory.
func openBare(t testing.TB, dir string) *Store {
	t.Helper()
	s := openDeltas(t, dir)
	s.bodies.Bases = stateengine.NewBareBases(stateengine.BasesBytes)
	return s
}

// slowly returns n versions of a state that changes a little from each to the next.
func slowly(size, n int) (all [][]byte) {
	s := sample.NewState(size, 1)
	for range n {
		all = append(all, bytes.Clone(s.Bytes()))
		s.Change()
	}
	return all
}

// secretly returns n versions of noise, each with 200 bytes that no other has.
func secretly(n int) (all, secrets [][]byte) {
	same := noise(20_000)
	for range n {
		body, secret := bytes.Clone(same), noise(200)
		copy(body[5_000:], secret)
		all, secrets = append(all, body), append(secrets, secret)
	}
	return all, secrets
}

func putAll(t *testing.T, s *Store, ref state.Ref, all [][]byte) {
	t.Helper()
	for _, body := range all {
		mustPut(t, s, ref, body)
	}
}

// wantHistory reads every version: nil ones are gone, for the reason that err says.
func wantHistory(t *testing.T, s *Store, ref state.Ref, all [][]byte, gone fault.Code) {
	t.Helper()
	for i, body := range all {
		got, err := s.Version(t.Context(), ref, uint64(i+1))
		if body == nil {
			wantFault(t, err, gone)
			continue
		}
		if err != nil || !bytes.Equal(got.Body, body) {
			t.Fatalf("version %d: %d bytes, %v; want the %d that were stored", i+1, len(got.Body), err, len(body))
		}
	}
	wantSound(t, s)
}

// count asks the file for a number.
func count(t *testing.T, s *Store, query string) (n int) {
	t.Helper()
	err := s.read(context.Background(), func(r *reader) error {
		return r.conn.QueryRowContext(context.Background(), query).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const (
	sqlDeltas  = `SELECT count(*) FROM bodies WHERE base IS NOT NULL`
	sqlUnsound = `SELECT count(*) FROM bodies b JOIN versions v ON v.id = b.id
		LEFT JOIN bodies a ON a.id = b.base LEFT JOIN versions f ON f.id = b.base
		WHERE b.base IS NOT NULL AND (b.encoding <> 'delta' OR a.id IS NULL OR a.base IS NOT NULL OR a.encoding = 'delta'
			OR f.state <> v.state OR abs(f.number - v.number) >= 32)
		OR b.base IS NULL AND b.encoding = 'delta'`
)

// wantSound looks at every row: a delta's base is whole, of the same state and near.
func wantSound(t *testing.T, s *Store) {
	t.Helper()
	if n := count(t, s, sqlUnsound); n != 0 {
		t.Fatalf("%d bodies can't be what they say", n)
	}
}

// TestLongHistory writes thousands of versions of one state, and opens them again.
func TestLongHistory(t *testing.T) {
	suite.Deep(t)
	dir, ref := t.TempDir(), newRef("long")
	s := open(t, dir)
	all := slowly(stateengine.DeltaFrom, 3_000)
	putAll(t, s, ref, all)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	wantHistory(t, s, ref, all, "")
	whole := len(s.bodies.Codec.Encode(all[0]).Bytes)
	if each := count(t, s, "SELECT sum(length(bytes)) FROM bodies") / len(all); each > whole/3 {
		t.Errorf("a version takes %d bytes, and %d by itself", each, whole)
	}
	mustPut(t, s, ref, all[0]) // with a base that is read
	if n := count(t, s, "SELECT base FROM bodies ORDER BY id DESC LIMIT 1"); n == 0 {
		t.Error("the first version after a start stands on its own")
	}
}

// TestSlowStateSize holds the store to what it is for.
func TestSlowStateSize(t *testing.T) {
	s, _ := opened(t)
	ref, all := newRef("slow"), slowly(1_000_000, 2*stateengine.GroupLength)
	putAll(t, s, ref, all)
	if each := count(t, s, "SELECT sum(length(bytes)) FROM bodies") / len(all); each > 15_000 {
		t.Errorf("a version of 1 MB takes %d bytes", each)
	}
	wantHistory(t, s, ref, all, "")
}

// TestUnlikeVersions stores whole what has nothing in common with the one before, and what
// is much smaller, and never more than that takes.
func TestUnlikeVersions(t *testing.T) {
	for name, pair := range map[string][2][]byte{
		"noise":   {noise(50_000), noise(50_000)},
		"states":  {sample.NewState(50_000, 1).Bytes(), sample.NewState(50_000, 2).Bytes()},
		"shorter": {sample.NewState(90_000, 1).Bytes(), sample.NewState(90_000, 1).Bytes()[:30_000]},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := opened(t)
			ref, most := newRef("unlike"), 0
			var all [][]byte
			for i := range 20 {
				all = append(all, pair[i%2])
				most += len(s.bodies.Codec.Encode(pair[i%2]).Bytes) + seal.Overhead
			}
			putAll(t, s, ref, all)
			wantHistory(t, s, ref, all, "")
			if n := count(t, s, sqlDeltas); n != 0 {
				t.Errorf("%d deltas", n)
			}
			if n := count(t, s, "SELECT sum(length(bytes)) FROM bodies"); n > most {
				t.Errorf("they take %d bytes, and %d by themselves", n, most)
			}
		})
	}
}

// TestEncryptedStaysWhole: two ciphertexts have nothing in common, so none is kept to be
// compared, nor read.
func TestEncryptedStaysWhole(t *testing.T) {
	s, _ := opened(t)
	ref, body := newRef("encrypted"), slowly(50_000, 1)[0]
	for range 5 {
		v := describe(body)
		v.Encrypted = true
		if _, err := s.Update(t.Context(), ref, body, accept(v)); err != nil {
			t.Fatal(err)
		}
		if b := s.bodies.Bases.Get(ref); b == nil || b.Body != nil {
			t.Fatalf("%+v is kept", b)
		}
		s.bodies.Bases.Drop(ref)
		if b, err := s.findBase(t.Context(), ref, 1, stateengine.BaseTo); b != nil || err != nil {
			t.Fatal("a base was read")
		}
	}
	if n := count(t, s, sqlDeltas); n != 0 {
		t.Errorf("%d deltas", n)
	}
	mustPut(t, s, ref, body)
	mustPut(t, s, ref, body)
	if n := count(t, s, sqlDeltas); n != 1 {
		t.Errorf("%d deltas after it was decrypted, want 1", n)
	}
}

// TestCandidatesAreWhole: a candidate outlives every version that it is like.
func TestCandidatesAreWhole(t *testing.T) {
	s, _ := opened(t)
	ref, all := newRef("candidate"), slowly(50_000, 3)
	putAll(t, s, ref, all[:2])
	c := &state.Candidate{ID: "c", Version: describe(all[2]), Status: state.Open, Source: state.Pushed}
	if _, err := s.Update(t.Context(), ref, all[2], always(state.Change{Candidate: c})); err != nil {
		t.Fatal(err)
	}
	for number := range uint64(2) {
		if err := s.Purge(t.Context(), ref, number+1, audit.Event{}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Candidate(t.Context(), ref, "c")
	if err != nil || !bytes.Equal(got.Body, all[2]) {
		t.Fatalf("%d bytes, %v", len(got.Body), err)
	}
	mustPut(t, s, ref, got.Body)
	wantHistory(t, s, ref, [][]byte{nil, nil, all[2]}, fault.VersionPurged)
}

// TestStaleBase has an update come with a delta of what is gone, or is something else by
// now: it is stored whole.
func TestStaleBase(t *testing.T) {
	all := slowly(50_000, 3)
	for name, change := range map[string]func(t *testing.T, s *Store, ref state.Ref){
		"purged": func(t *testing.T, s *Store, ref state.Ref) {
			if err := s.Purge(t.Context(), ref, 1, audit.Event{}); err != nil {
				t.Fatal(err)
			}
		},
		"pruned": func(t *testing.T, s *Store, ref state.Ref) {
			mustPut(t, s, ref, all[1])
			if n, err := s.Prune(t.Context(), ref, state.Pruning{Below: 2, Limit: 9}, audit.Event{}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		},
		"another state": func(t *testing.T, s *Store, ref state.Ref) {
			expunge(t, s, ref)
			mustPut(t, s, ref, all[2]) // gets the row
		},
		"the same in another state": func(t *testing.T, s *Store, ref state.Ref) {
			expunge(t, s, ref)
			mustPut(t, s, newRef("other"), all[0]) // gets the row
		},
		"another number": func(t *testing.T, s *Store, ref state.Ref) {
			execFile(t, filepath.Dir(s.path), "UPDATE versions SET number = 99 WHERE id = 1")
		},
		"far away": func(t *testing.T, s *Store, ref state.Ref) {
			for range stateengine.GroupLength {
				mustPut(t, s, ref, []byte("{}"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := opened(t)
			ref := newRef("stale")
			mustPut(t, s, ref, all[0])
			old := *s.bodies.Bases.Get(ref)
			change(t, s, ref)
			s.bodies.Bases.Drop(ref)
			s.bodies.Bases.Keep(ref, old)
			head, err := put(s, ref, all[1])
			if err != nil {
				t.Fatal(err)
			}
			wantBody(t, s, ref, all[1])
			if n := count(t, s, sqlDeltas); n != 0 {
				t.Error("it is a delta")
			}
			if got := s.bodies.Bases.Get(ref); got == nil || got.Number != head.Version.Number {
				t.Errorf("the next one would be a delta of %+v", got)
			}
		})
	}
}

func expunge(t *testing.T, s *Store, ref state.Ref) {
	t.Helper()
	if _, err := s.Update(t.Context(), ref, nil, always(state.Change{Delete: true})); err != nil {
		t.Fatal(err)
	}
	for done := false; !done; {
		var err error
		if done, err = s.Expunge(t.Context(), ref, time.Now(), 2, audit.Event{}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamagedBase damages a base: what needs it is refused, what doesn't is served, and the
// next version stands on its own once the damage was seen.
func TestDamagedBase(t *testing.T) {
	for name, damage := range map[string]string{
		"one bit":  `UPDATE bodies SET bytes = CAST(substr(bytes, 1, 99) || x'01' || substr(bytes, 101) AS BLOB) WHERE id = 1`,
		"others":   `UPDATE bodies SET bytes = (SELECT bytes FROM bodies WHERE id = 4), encoding = 'zstd' WHERE id = 1`,
		"a delta":  `UPDATE bodies SET encoding = 'delta', bytes = (SELECT bytes FROM bodies WHERE id = 2) WHERE id = 1`,
		"gone":     `DELETE FROM bodies WHERE id = 1`,
		"forgot":   `UPDATE bodies SET base = NULL WHERE base = 1`,
		"the rest": `UPDATE bodies SET bytes = substr(bytes, 1, length(bytes) - 1) WHERE base = 1`,
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := opened(t)
			ref, other, all := newRef("damaged"), newRef("other"), slowly(50_000, 5)
			putAll(t, s, ref, all[:3])
			mustPut(t, s, other, sample.NewState(50_000, 2).Bytes())
			execFile(t, filepath.Dir(s.path), damage)
			_, err := s.Current(t.Context(), ref)
			wantFault(t, err, fault.StateCorrupt)
			got, err := s.Version(t.Context(), ref, 2)
			wantFault(t, err, fault.StateCorrupt)
			if got.Body != nil {
				t.Error("there are bytes beside the error")
			}
			for _, body := range all[3:] {
				mustPut(t, s, ref, body)
				wantBody(t, s, ref, body)
			}
			for number := range uint64(4) { // what can't be read can be destroyed
				if err := s.Purge(t.Context(), ref, number+1, audit.Event{}); err != nil {
					t.Fatal(err)
				}
			}
			wantHistory(t, s, ref, [][]byte{nil, nil, nil, nil, all[4]}, fault.VersionPurged)
		})
	}
}

// TestDamagedDelta flips every byte of a delta: never are there other bytes than those that
// were stored.
func TestDamagedDelta(t *testing.T) {
	s, _ := opened(t)
	all := slowly(20_000, 2)
	whole := s.bodies.Codec.Encode(all[0])
	packed, ok := s.bodies.Codec.Difference(&stateengine.Base{BaseID: stateengine.BaseID{ID: 1}, Body: all[0],
		Size: len(all[0]), Packed: len(whole.Bytes)}, all[1])
	if !ok {
		t.Fatal("there is no delta")
	}
	v := describe(all[1])
	v.Number = 2
	if got, err := s.bodies.Codec.Decode(v, packed, whole); err != nil || !bytes.Equal(got, all[1]) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	for i := range packed.Bytes {
		for _, flip := range []byte{1, 0x80, 0xff} {
			damaged := stateengine.Stored{Encoding: packed.Encoding, Bytes: bytes.Clone(packed.Bytes)}
			damaged.Bytes[i] ^= flip
			if got, err := s.bodies.Codec.Decode(v, damaged, whole); err == nil && !bytes.Equal(got, all[1]) || err != nil &&
				!fault.Is(err, fault.StateCorrupt) {
				t.Fatalf("byte %d: %d bytes, %v", i, len(got), err)
			}
		}
		_, err := s.bodies.Codec.Decode(v, stateengine.Stored{Encoding: packed.Encoding, Bytes: packed.Bytes[:i]}, whole)
		wantFault(t, err, fault.StateCorrupt)
	}
}
