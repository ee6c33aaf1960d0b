package mysqlstates

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statetest"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
	"github.com/holdfast/holdfast/storage/readmap"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// newMaster makes a master key.
func newMaster(t testing.TB) *seal.Master {
	t.Helper()
	master, _ := newMasterFile(t)
	return master
}

// newMasterFile makes a master key, and returns its file too.
func newMasterFile(t testing.TB) (*seal.Master, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "master.key")
	if err := seal.CreateMasterFile(path); err != nil {
		t.Fatal(err)
	}
	master, err := seal.ReadMasterFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return master, path
}

func TestSealedStore(t *testing.T) {
	master := newMaster(t)
	statetest.RunStore(t, func(t *testing.T) state.Store {
		d := mysqltest.New(t)
		wantSound(t, d)
		o := optionsFor(d)
		o.Master = master
		s := opened(t, o)
		s.bodies.DeltaFrom = 1
		if s.SealMode() != stateengine.Sealed {
			t.Fatalf("the mode of a new database is %d", s.SealMode())
		}
		return s
	})
}

// TestSealedNodes runs the suite on two nodes that seal, each of which serves reads from memory.
func TestSealedNodes(t *testing.T) {
	suite.Deep(t)
	master := newMaster(t)
	statetest.RunStore(t, func(t *testing.T) state.Store {
		o := optionsFor(mysqltest.New(t))
		o.Master = master
		node := func() state.Store { return readmap.NewShared(opened(t, o), 64<<20) }
		return statetest.Alternately(node(), node())
	})
}

func TestKeys(t *testing.T) {
	s := open(t, optionsFor(mysqltest.New(t)))
	sealtest.RunKeys(t, func(*testing.T) seal.Keys { return s.keys })
}

// TestEnable has a database sealed that was not.
func TestEnable(t *testing.T) {
	database, master := mysqltest.New(t), newMaster(t)
	s := opened(t, optionsFor(database))
	ref := state.Ref{Org: uuid.New(), Name: "prod/network"}
	bodies := [][]byte{}
	for i := range 5 {
		body := append(append([]byte(`{"version":4,"serial":1,"secret":"planted-`), byte('0'+i)), `"}`...)
		putPlain(t, s, ref, body)
		bodies = append(bodies, body)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	o := optionsFor(database)
	o.Master = master
	s = open(t, o)
	if s.SealMode() != stateengine.Unsealed {
		t.Fatalf("the mode is %d", s.SealMode())
	}
	s.sealingKnown = time.Millisecond
	if err := s.Seal(t.Context(), func(stateengine.SealProgress) {}); err != nil {
		t.Fatal(err)
	}
	for i, want := range bodies {
		got, err := s.Version(t.Context(), ref, uint64(i+1))
		if err != nil || string(got.Body) != string(want) {
			t.Errorf("version %d is %q, %v", i+1, got.Body, err)
		}
	}
	var plain int
	err := s.readers.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM state_bodies WHERE INSTR(bytes, 'planted') > 0`).
		Scan(&plain)
	if err != nil || plain > 0 {
		t.Errorf("%d plain bodies are left, %v", plain, err)
	}
	if _, err := Open(t.Context(), optionsFor(database)); err == nil {
		t.Error("a sealed database was opened without a master key")
	}
}

// TestSwappedRows puts rows in the place of others: none is believed.
func TestSwappedRows(t *testing.T) {
	o := optionsFor(mysqltest.New(t))
	o.Master = newMaster(t)
	s := open(t, o)
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
