package states

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/state"
)

func TestKeys(t *testing.T) { onEach(t, testKeys) }

func testKeys(t *testing.T, on kind) {
	s := open(t, on.new(t).options())
	sealtest.RunKeys(t, func(*testing.T) seal.Keys { return s.keys })
}

// TestMark has the database say nothing of whose master keys it was sealed under, or something else: it is not opened,
// nor without a master key or with another one, and no node seals with another one.
func TestMark(t *testing.T) { onEach(t, testMark) }

func testMark(t *testing.T, on kind) {
	database := on.new(t)
	o := database.options()
	other := o
	other.Master = seal.NewMaster()
	early := open(t, other) // while nothing was sealed
	s := opened(t, o)
	putPlain(t, s, newRef("a"), []byte("{}"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := early.Update(t.Context(), newRef("b"), []byte("{}"), write([]byte("{}")))
	if !fault.Is(err, fault.SealKeyMissing) {
		t.Errorf("another node seals with another key: %v", err)
	}
	refused := func(what string, o Options) {
		t.Helper()
		if s, err := Open(t.Context(), o); err == nil {
			t.Errorf("%s: it was opened, %v", what, s.Close())
		}
	}
	without := o
	without.Master = nil
	refused("without a master key", without)
	refused("with another one", other)
	database.exec(t, "UPDATE state_sealing SET mark = 'x'")
	refused("another mark", o)
	database.exec(t, "DELETE FROM state_sealing")
	refused("no mark", o)
}

// TestSwappedRows puts rows in the place of others: none is believed.
func TestSwappedRows(t *testing.T) { onEach(t, testSwappedRows) }

func testSwappedRows(t *testing.T, on kind) {
	s := open(t, on.new(t).options())
	s.bodies.DeltaFrom = 1
	a, b := state.Ref{Org: uuid.New(), Name: "a"}, state.Ref{Org: uuid.New(), Name: "a"}
	c := state.Ref{Org: a.Org, Name: "c"}
	for _, ref := range []state.Ref{a, b, c} {
		for i := range 3 {
			putPlain(t, s, ref, fmt.Appendf(nil, `{"of":%q,"version":%d,"x":"%x"}`, ref, i, sha256.Sum256([]byte(ref.Name))))
		}
	}
	id := func(ref state.Ref) (id int64) {
		err := s.readers.QueryRowContext(t.Context(), `SELECT id FROM state_heads WHERE org = ? AND name = ?`, ref.Org.String(),
			string(ref.Name)).Scan(&id)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	const body = `UPDATE state_bodies x JOIN state_bodies y ON y.state = ? AND y.number = ? SET x.bytes = y.bytes
		WHERE x.state = ? AND x.number = 1`
	const row = `UPDATE state_versions x JOIN state_versions y ON y.state = ? AND y.number = ? SET x.encoding = y.encoding,
		x.stored_bytes = y.stored_bytes, x.size = y.size, x.digest = y.digest WHERE x.state = ? AND x.number = 1`
	want, err := s.Version(t.Context(), a, 1)
	if err != nil {
		t.Fatal(err)
	}
	for what, from := range map[string][2]any{"versions": {id(a), 3}, "states": {id(c), 1}, "tenants": {id(b), 1}} {
		for _, statements := range [][]string{{body}, {body, row}} {
			for _, one := range statements {
				if _, err := s.writers.ExecContext(t.Context(), one, from[0], from[1], id(a)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.writers.ExecContext(t.Context(), "COMMIT"); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Version(t.Context(), a, 1); err == nil && string(got.Body) != string(want.Body) {
				t.Errorf("%s: %s was returned", what, got.Body)
			} else if err == nil {
				t.Errorf("%s: nothing was swapped", what)
			}
		}
	}
}

func putPlain(t *testing.T, s *Store, ref state.Ref, body []byte) {
	t.Helper()
	_, err := s.Update(t.Context(), ref, body, func(h state.Head) (state.Change, error) {
		return state.Change{Version: &state.Version{Number: h.Version.Number + 1, Size: int64(len(body)),
			Digest: sha256.Sum256(body), CreatedAt: time.Now()}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
