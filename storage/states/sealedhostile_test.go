package states

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// TestFlippedBits flips bits of what is stored of states, anywhere: a body is returned as it was, or not at all.
func TestFlippedBits(t *testing.T) { onEach(t, testFlippedBits) }

func testFlippedBits(t *testing.T, on kind) {
	s := open(t, on.new(t).options())
	s.bodies.DeltaFrom = 1
	ref := state.Ref{Org: uuid.New(), Name: "prod/a"}
	want := map[uint64]string{}
	for i := range uint64(4) {
		body := fmt.Sprintf(`{"serial":%d,"secret":"planted","x":%q}`, i, strings.Repeat("abcdefghij", 30))
		putPlain(t, s, ref, []byte(body))
		want[i+1] = body
	}
	id := headID(t, s, ref)
	refused := 0
	for _, column := range []struct{ table, name string }{{"state_bodies", "bytes"}, {"state_versions", "digest"}} {
		for number := range want {
			for range 60 {
				where := fmt.Sprintf("state = %d AND number = %d", id, number)
				var was []byte
				get := fmt.Sprintf("SELECT %s FROM %s WHERE %s", column.name, column.table, where)
				if err := s.readers.QueryRowContext(t.Context(), get).Scan(&was); err != nil {
					t.Fatal(err)
				}
				bad, bit := append([]byte(nil), was...), rand.IntN(8*len(was))
				bad[bit/8] ^= 1 << (bit % 8)
				set := fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s", column.table, column.name, where)
				change := func(to []byte) {
					t.Helper()
					if _, err := s.readers.ExecContext(t.Context(), set, to); err != nil {
						t.Fatal(err)
					}
				}
				change(bad)
				for of, body := range want {
					got, err := s.Version(t.Context(), ref, of)
					if err != nil {
						refused++
					} else if string(got.Body) != body {
						t.Fatalf("%v of version %d, bit %d: version %d is %q", column, number, bit, of, got.Body)
					}
				}
				change(was)
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// TestSwappedKinds puts the bytes of a candidate in the place of a version's, and the other way round.
func TestSwappedKinds(t *testing.T) { onEach(t, testSwappedKinds) }

func testSwappedKinds(t *testing.T, on kind) {
	s := open(t, on.new(t).options())
	ref := state.Ref{Org: uuid.New(), Name: "prod/a"}
	version, candidate := []byte(`{"serial":1,"is":"version"}`), []byte(`{"serial":2,"is":"candidate"}`)
	putPlain(t, s, ref, version)
	c := state.Candidate{ID: "c1", Source: state.Pushed, Status: state.Open, Content: sha256.Sum256(candidate),
		Version: state.Version{Number: 1, Size: int64(len(candidate)), Digest: sha256.Sum256(candidate)}}
	if _, err := s.Update(t.Context(), ref, candidate, func(state.Head) (state.Change, error) {
		return state.Change{Candidate: &c}, nil
	}); err != nil {
		t.Fatal(err)
	}
	id := headID(t, s, ref)
	for _, swap := range []string{
		`UPDATE state_bodies b JOIN state_bodies c ON c.state = b.state AND c.number <> b.number SET b.bytes = c.bytes
			WHERE b.state = ? AND b.number = 1`,
		`UPDATE state_versions v JOIN state_candidates c ON c.state = v.state SET v.stored_bytes = c.stored_bytes,
			v.encoding = c.encoding, v.size = c.size, v.digest = c.digest WHERE v.state = ?`,
	} {
		result, err := s.readers.ExecContext(t.Context(), swap, id)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := result.RowsAffected(); err != nil || n != 1 {
			t.Fatalf("%d rows were swapped, %v", n, err)
		}
	}
	if got, err := s.Version(t.Context(), ref, 1); err == nil {
		t.Errorf("a candidate was returned for a version: %q", got.Body)
	}
}

func headID(t *testing.T, s *Store, ref state.Ref) (id int64) {
	t.Helper()
	err := s.readers.QueryRowContext(t.Context(), `SELECT id FROM state_heads WHERE org = ? AND name = ?`, ref.Org.String(),
		string(ref.Name)).Scan(&id)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
