package enginetest

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/state"
)

// doomed is the organization that is shredded, and spared is another one.
func doomed() uuid.UUID { return uuid.MustParse("5bedded0-0000-4000-8000-000000000001") }
func spared() uuid.UUID { return uuid.MustParse("5bedded0-0000-4000-8000-000000000002") }

// strewn is how many kills a work survives at moments that nobody has chosen.
const strewn = 3

// strew kills a child that often, around moments before a bound, and calls check after each.
func strew(t *testing.T, variable, dir string, below int, check func()) {
	t.Helper()
	random := rand.New(rand.NewPCG(killtest.Seed(t), 0))
	for range strewn {
		while := time.Duration(random.IntN(20_000)) * time.Microsecond
		killtest.Around(t, variable, dir, 1+random.IntN(below), while)
		check()
	}
}

// populate fills the store of a new folder, and closes it.
func (e Engine) populate(t *testing.T, fill func(Store) *World) (dir string, w *World) {
	t.Helper()
	dir = e.Folder(t)
	sealtest.MakeMaster(t, dir)
	s := e.open(t, dir)
	w = fill(s)
	suite.Close(t, s)
	return dir, w
}

// checkRewrapping kills whoever has new master keys wrap the data keys: all is there each time.
func (e Engine) checkRewrapping(t *testing.T) {
	dir, w := e.populate(t, func(s Store) *World { return Populate(t, s, uuid.UUID{1}, uuid.UUID{2}) })
	check := func() {
		t.Helper()
		s := e.open(t, dir)
		defer suite.Close(t, s)
		w.Check(t, s, true)
		if failed, err := s.UnopenedKeys(t.Context()); err != nil || len(failed) > 0 {
			t.Fatalf("keys can't be opened: %v, %v", failed, err)
		}
	}
	const moments = 6 // of a new key and two organizations
	for n := range moments {
		killtest.At(t, childRewraps, dir, n+1)
		check()
	}
	strew(t, childRewraps, dir, 3*moments, check)
	s := e.open(t, dir)
	if _, err := s.Rewrap(t.Context(), sealtest.MasterIn(dir)); err != nil {
		t.Fatal(err)
	}
	suite.Close(t, s)
	sealtest.KeepNewest(t, dir)
	check()
	if in := e.traces(t, dir, Planted); len(in) > 0 {
		t.Errorf("the secret is in %q", in)
	}
}

// RunForeignMaster has the master keys of another server take the place of a store's while it is open: they wrap
// nothing of it, and it opens and goes on with its own, as if nothing had been.
func (e Engine) RunForeignMaster(t *testing.T) {
	dir, w := e.populate(t, func(s Store) *World { return Populate(t, s, uuid.UUID{1}, uuid.UUID{2}) })
	s := e.open(t, dir)
	if n, err := s.Rewrap(t.Context(), seal.NewMaster()); !fault.Is(err, fault.SealKeyMissing) {
		t.Errorf("the keys of another server wrap %d data keys: %v", n, err)
	}
	w.Put(t, s, state.Ref{Org: uuid.UUID{3}, Name: "new"})
	suite.Close(t, s)
	s = e.open(t, dir)
	defer suite.Close(t, s)
	w.Check(t, s, true)
	if failed, err := s.UnopenedKeys(t.Context()); err != nil || len(failed) > 0 {
		t.Errorf("keys can't be opened: %v, %v", failed, err)
	}
}

// checkShredding kills whoever destroys what an organization has, piece by piece: the next one goes on, what can still
// be read of it is as it was, and in the end nothing is left. The other one has all that it had, all the time.
func (e Engine) checkShredding(t *testing.T) {
	dir, others := e.populate(t, func(s Store) *World { return e.fillOrg(t, s, spared()) })
	before := e.Rows(t, dir)
	s := e.open(t, dir)
	w := e.fillOrg(t, s, doomed())
	suite.Close(t, s)
	if len(e.lacking(e.Rows(t, dir), before)) < 25 {
		t.Fatal("there is too little: the test shows nothing")
	}
	check := func() {
		t.Helper()
		s := e.open(t, dir)
		defer suite.Close(t, s)
		others.Check(t, s, true)
		w.Check(t, s, false)
	}
	check()
	const chosen = 4
	for n := range chosen {
		killtest.At(t, childShreds, dir, n+1)
		check()
	}
	strew(t, childShreds, dir, 2*chosen, check)
	s = e.open(t, dir)
	for removed := 1; removed > 0; {
		var err error
		if removed, err = s.Shred(t.Context(), doomed(), 20); err != nil {
			t.Fatal(err)
		}
	}
	suite.Close(t, s)
	check()
	after := e.Rows(t, dir)
	if left := e.lacking(after, before, e.Logs...); len(left) > 0 {
		t.Errorf("%d rows are left, such as %s", len(left), left[0])
	}
	if gone := e.lacking(before, after); len(gone) > 0 {
		t.Errorf("%d rows of others are gone or changed, such as %s", len(gone), gone[0])
	}
	if in := e.traces(t, dir, doomed().String()); len(in) > 0 {
		t.Errorf("the organization is in %q", in)
	}
	if in := e.traces(t, dir, noteOf(doomed())); len(in) > 0 {
		t.Errorf("its log is in %q", in)
	}
}

func noteOf(org uuid.UUID) string { return "what was noted of " + org.String()[35:] }

// fillOrg gives an organization states with locks, used lock IDs, purged versions and entries in the log.
func (e Engine) fillOrg(t *testing.T, s Store, org uuid.UUID) *World {
	t.Helper()
	w := Populate(t, s, org)
	for ref := range w.Versions {
		for _, change := range []state.Change{
			{Lock: &state.Lock{Info: state.LockInfo{ID: "used"}}}, {Release: true},
			{Lock: &state.Lock{Info: state.LockInfo{ID: "held"}}},
		} {
			_, err := s.Update(t.Context(), ref, nil, func(state.Head) (state.Change, error) { return change, nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		event := audit.Event{Org: org, Action: audit.StateWrite, State: string(ref.Name), Note: noteOf(org), At: time.Now()}
		if err := s.Record(t.Context(), event); err != nil {
			t.Fatal(err)
		}
	}
	purged, apart := state.Ref{Org: org, Name: "purged"}, &World{Versions: map[state.Ref][][]byte{}}
	for range 2 {
		apart.Put(t, s, purged)
	}
	if err := s.Purge(t.Context(), purged, 1, audit.Event{Action: audit.VersionPurge, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if e.Fill != nil && org == doomed() {
		e.Fill(t, s, org)
	}
	// Who reads the log has what was only noted so far go there.
	if _, err := s.Events(t.Context(), org, audit.Query{Limit: 1}); err != nil {
		t.Fatal(err)
	}
	return w
}
