package sqlite

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// anyEdit returns a body that some edit makes of another one: of a few bytes anywhere, with a part
// that moved or came twice or went, much shorter, or another body altogether.
func anyEdit(r *rand.Rand, body []byte) []byte {
	next, n := bytes.Clone(body), len(body)
	from, to := r.IntN(n+1), r.IntN(n+1)
	from, to = min(from, to), max(from, to)
	switch r.IntN(10) {
	case 0:
		return noise(1 + r.IntN(60_000))
	case 1:
		return next[:r.IntN(n)+1]
	case 2:
		return append(next, body[from:to]...)
	case 3:
		return append(append(next[:from:from], body[to:]...), ' ')
	case 4:
		return append(append(next[:from:from], body[to:]...), body[from:to]...)
	case 5:
		return append(noise(r.IntN(300)+1), next...)
	case 6:
		return append(append(next[:from:from], noise(r.IntN(40))...), body[from:]...)
	}
	for range r.IntN(5) {
		next[r.IntN(n)]++
	}
	return next
}

// anyHistory is a state with what its versions must be: nil for a purged one.
type anyHistory struct {
	ref   state.Ref
	first int // number of the first version that is kept
	all   [][]byte
}

func (h *anyHistory) write(t *testing.T, r *rand.Rand, s *Store) {
	body := noise(20_000)
	for i := len(h.all) - 1; i >= max(0, len(h.all)-3); i-- {
		if h.all[i] != nil {
			body = anyEdit(r, h.all[i])
			break
		}
	}
	mustPut(t, s, h.ref, body)
	h.all = append(h.all, body)
}

func (h *anyHistory) prune(t *testing.T, r *rand.Rand, s *Store) {
	below, limit := h.first+r.IntN(len(h.all)-h.first+1), 1+r.IntN(40)
	removed, err := s.Prune(t.Context(), h.ref, state.Pruning{Below: uint64(below), Limit: limit}, audit.Event{})
	if err != nil || removed != min(below-h.first, limit) {
		t.Fatalf("%d versions removed from %d below %d, %v", removed, h.first, below, err)
	}
	for range removed {
		h.all[h.first-1], h.first = nil, h.first+1
	}
}

func (h *anyHistory) want(t *testing.T, s *Store) {
	t.Helper()
	gone := len(h.all[:h.first-1])
	wantHistory(t, s, h.ref, h.all[:gone], fault.StateNotFound)
	for i, body := range h.all[gone:] {
		got, err := s.Version(t.Context(), h.ref, uint64(gone+i+1))
		if purged := fault.Is(err, fault.VersionPurged); purged != (body == nil) || !purged &&
			(err != nil || !bytes.Equal(got.Body, body)) {
			t.Fatalf("%s, version %d: %d bytes, %v; want %d", h.ref.Name, gone+i+1, len(got.Body), err, len(body))
		}
	}
}

// TestAnyHistory writes, purges, prunes and expunges a few states in any order, and opens the
// store again in between: the versions that are there have the bytes that were stored.
func TestAnyHistory(t *testing.T) {
	suite.Deep(t)
	wantAnyHistory(t, func(dir string, _ []*anyHistory) *Store { return openDeltas(t, dir) })
}

// TestAnyHistoryGoesOn is TestAnyHistory where no base is in memory, and now and then the newest version is, or one
// that was it once.
func TestAnyHistoryGoesOn(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 9))
	wentOn := 0
	wantAnyHistory(t, func(dir string, all []*anyHistory) *Store {
		s := openBare(t, dir)
		s.Lend(func(ref state.Ref) (lent state.Snapshot, some bool) {
			for _, h := range all {
				if n := len(h.all); h.ref == ref && n > 0 && r.IntN(8) > 0 {
					body := h.all[max(0, n-1-r.IntN(6)/5)]
					lent = state.Snapshot{Version: describe(body), Body: body}
					if b := s.bodies.Bases.Get(ref); b.To == lent.Digest {
						wentOn++
					}
				}
			}
			return lent, lent.Body != nil
		})
		return s
	})
	if wentOn < 100 {
		t.Errorf("only %d versions went on from the one before: this test does not look there", wentOn)
	}
}

func wantAnyHistory(t *testing.T, open func(dir string, all []*anyHistory) *Store) {
	r := rand.New(rand.NewPCG(5, 8))
	dir := t.TempDir()
	histories := []*anyHistory{{ref: newRef("a"), first: 1}, {ref: newRef("b"), first: 1}}
	s := open(dir, histories)
	deltas := 0
	for step := range 600 {
		h := histories[r.IntN(len(histories))]
		switch k := r.IntN(60); {
		case k == 0:
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(dir, histories)
		case k <= 3 && len(h.all) >= h.first:
			number := h.first + r.IntN(len(h.all)-h.first+1)
			mustPurge(t, s, h.ref, number)
			h.all[number-1] = nil
		case k == 4 && len(h.all) > h.first:
			h.prune(t, r, s)
		case k == 5 && len(h.all) > 0 && r.IntN(3) == 0:
			expunge(t, s, h.ref)
			h.first, h.all = 1, nil
		case k == 6:
			s.bodies.Bases.Drop(h.ref)
		default:
			h.write(t, r, s)
		}
		if step%60 == 59 {
			for _, h := range histories {
				h.want(t, s)
			}
			wantCounted(t, s)
			deltas = max(deltas, count(t, s, sqlDeltas))
		}
	}
	if deltas < 20 {
		t.Errorf("there were %d deltas at most: this test does not look where they are", deltas)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
