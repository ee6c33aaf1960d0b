package storage_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth/lastuse"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// ends are the settings of a folder and a database of the test's own, whose first server keeps
// everything in the folder.
func ends(t *testing.T) configs.Settings {
	t.Helper()
	suite.Deep(t)
	d := mysqltest.New(t)
	return inFolder(t, append(d.Environ(), "DB_NAME="+d.Name, "DB_TLS=off")...)
}

// endsOn is ends with a database of an engine.
func endsOn(t *testing.T, engine string) configs.Settings {
	t.Helper()
	if engine == configs.MySQL {
		return ends(t)
	}
	suite.Deep(t)
	return inFolder(t, "DATABASE_URL="+pgtest.New(t))
}

// eachEnds are ends with a database of each engine.
func eachEnds(t *testing.T) map[string]configs.Settings {
	t.Helper()
	return map[string]configs.Settings{configs.MySQL: ends(t), configs.Postgres: endsOn(t, configs.Postgres)}
}

// inFolder are the settings of a server that keeps everything in a folder of the test's own.
func inFolder(t *testing.T, environ ...string) configs.Settings {
	t.Helper()
	s, err := configs.Load(configs.Sources{Environ: append(environ, "STORAGE_PATH="+filepath.Join(t.TempDir(), "data"))})
	must(t, err)
	// The same for all ends of a test, as who moves sees to: states are sealed.
	s.Seal.MasterKeyFile = filepath.Join(filepath.Dir(t.TempDir()), "master.key")
	if err := seal.CreateMasterFile(s.Seal.MasterKeyFile); !errors.Is(err, fs.ErrExist) {
		must(t, err)
	}
	return s
}

// inDatabase are the settings of nodes.
func inDatabase(s configs.Settings) configs.Settings {
	s.State.Storage, s.Runs.Storage = s.Database.Engine(), s.Database.Engine()
	return s
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func openStates(t *testing.T, s configs.Settings) state.Store {
	t.Helper()
	store, err := storage.OpenStates(t.Context(), s, quiet())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// filler fills a store with something of every kind.
type filler struct {
	*testing.T
	store state.Store
	at    time.Time
	count int
}

func (f *filler) update(ref state.Ref, body []byte, change func(state.Head) state.Change) {
	f.Helper()
	f.at = f.at.Add(1234567 * time.Microsecond)
	_, err := f.store.Update(f.Context(), ref, body, func(h state.Head) (state.Change, error) {
		c := change(h)
		c.At = f.at
		c.Events = append(c.Events, audit.Event{At: f.at, Org: ref.Org, Action: "state.write", State: string(ref.Name),
			Version: h.Version.Number, Note: "ünïcode — note", Actor: audit.Actor{KeyID: "key", Address: "192.0.2.1"}})
		return c, nil
	})
	must(f.T, err)
}

func (f *filler) version(body []byte) state.Version {
	f.count++
	return state.Version{Serial: 1<<63 + uint64(f.count), Lineage: "lineage", TerraformVersion: "1.9.0",
		Size: int64(len(body)), Digest: sha256.Sum256(body), CreatedAt: f.at, Resources: f.count,
		Author: state.Author{KeyID: "key", Address: "192.0.2.1", Request: "r", Who: "ann@läptop", Operation: "apply"}}
}

func (f *filler) put(ref state.Ref, body []byte) {
	f.Helper()
	f.update(ref, body, func(h state.Head) state.Change {
		v := f.version(body)
		v.Number = h.Version.Number + 1
		return state.Change{Version: &v}
	})
}

func (f *filler) lock(ref state.Ref, id string) {
	f.Helper()
	info, err := state.ParseLockInfo(fmt.Appendf(nil, `{"ID":%q,"Operation":"apply","Who":"ann","Info":"%s"}`, id,
		strings.Repeat("x", 3000)))
	must(f.T, err)
	f.update(ref, nil, func(state.Head) state.Change {
		return state.Change{Lock: &state.Lock{Info: info, Since: f.at, Seen: f.at, KeyID: "key",
			Run: state.RunRef{ID: "01RUN", Epoch: 3}}}
	})
}

func (f *filler) candidate(ref state.Ref, id string, body []byte) {
	f.Helper()
	f.update(ref, body, func(h state.Head) state.Change {
		v := f.version(body)
		v.Number = h.Version.Number
		return state.Change{Candidate: &state.Candidate{ID: id, Version: v, Source: state.Held, Status: state.Open,
			Content: sha256.Sum256([]byte(id))}}
	})
}

// fill makes an organization's states.
func (f *filler) fill(org uuid.UUID) {
	f.Helper()
	ref := func(name string) state.Ref { return state.Ref{Org: org, Name: state.Name(name)} }
	random := make([]byte, 3<<20) // in several pieces
	_, _ = rand.Read(random)
	text := strings.Repeat("resource "+rand.Text()+"\n", 2000)
	for i := range 70 { // whole ones, and deltas of them
		f.put(ref("prod/deltas"), fmt.Appendf([]byte(text), "change %d", i))
	}
	must(f.T, f.store.Purge(f.Context(), ref("prod/deltas"), 33, audit.Event{At: f.at, Org: org, Action: "state.purge"}))
	f.put(ref("large"), random)
	f.put(ref("large"), []byte{})
	f.put(ref("locked"), []byte("{}"))
	f.lock(ref("locked"), "released-"+org.String())
	f.update(ref("locked"), nil, func(state.Head) state.Change { return state.Change{Release: true} })
	f.lock(ref("locked"), "held-"+org.String())
	f.lock(ref("never written"), "other")
	f.put(ref("gone"), []byte("{ }"))
	f.update(ref("gone"), nil, func(state.Head) state.Change { return state.Change{Delete: true} })
	f.candidate(ref("locked"), "open", random[:1<<20+1])
	f.candidate(ref("locked"), "settled", []byte("{  }"))
	f.update(ref("locked"), nil, func(state.Head) state.Change {
		return state.Change{Settle: &state.Settlement{ID: "settled", Status: state.Discarded, At: f.at},
			Fence:  &state.Fence{Run: "01RUN", Epoch: 3, Open: true},
			Expect: &state.Expectation{Since: f.at, Until: f.at.Add(time.Hour), Reason: "moves", Findings: state.WarnEmptied}}
	})
}

// world is all of what a test's server keeps.
type world struct{ orgs [2]uuid.UUID }

// newWorld fills what the settings name.
func newWorld(t *testing.T, s configs.Settings) world {
	t.Helper()
	w := world{[2]uuid.UUID{uuid.New(), uuid.New()}}
	store := openStates(t, s)
	old := audit.Event{Org: w.orgs[0], Action: audit.StateWrite}
	must(t, store.Record(t.Context(), old))
	must(t, store.Close())
	store = openStates(t, s)
	for _, org := range w.orgs {
		(&filler{T: t, store: store, at: time.Now().Add(-time.Hour).UTC().Truncate(time.Microsecond)}).fill(org)
	}
	_, err := store.PruneEvents(t.Context(), w.orgs[1], time.Now(), 3, audit.Event{At: time.Now()})
	must(t, err)
	must(t, store.Close())
	fillRuns(t, s, w)
	fillFolder(t, s, w)
	return w
}

// fillFolder fills what a server has in its folder beside states and runs.
func fillFolder(t *testing.T, s configs.Settings, w world) {
	t.Helper()
	outbox, err := storage.OpenNotices(t.Context(), s, quiet())
	must(t, err)
	must(t, outbox.Keep(t.Context(), 77, []audit.Event{{Org: w.orgs[0], Sequence: 76, At: time.Now().UTC()}}))
	must(t, outbox.Close())
	must(t, lastuse.Write(filepath.Join(s.Storage.Path, lastuse.FileName),
		lastuse.Uses{{Org: w.orgs[0], ID: "key"}: {At: time.Now().UTC().Truncate(time.Second), From: "192.0.2.9"}}))
}

// fillRuns fills the database of workspaces and runs.
func fillRuns(t *testing.T, s configs.Settings, w world) {
	t.Helper()
	db, err := storage.OpenRuns(t.Context(), s, quiet())
	must(t, err)
	shapes, err := db.Shapes(t.Context())
	must(t, err)
	for _, shape := range shapes {
		for i := range 40 {
			insertAny(t, db, shape, w.orgs[i%2])
		}
	}
	must(t, db.Close())
}

// insertAny adds a row of any values.
func insertAny(t *testing.T, db *sqldb.DB, shape moving.Shape, org uuid.UUID) {
	t.Helper()
	var row moving.Row
	columns := append(append([]moving.Column{}, shape.Key...), shape.Rest...)
	if shape.Body != "" {
		columns = append(columns, moving.Column{Name: shape.Body, Kind: moving.Bytes})
	}
	for _, c := range columns {
		v := anyOf(c, org)
		if shape.Name == "data_keys" && c.Name == "id" {
			v = v.([]byte)[:8]
		}
		row = append(row, v)
	}
	must(t, db.Change(t.Context(), 0, func(tx moving.Tx) error { return shape.InsertInto(tx, row) }))
}

func anyOf(c moving.Column, org uuid.UUID) any {
	random := make([]byte, 32)
	_, _ = rand.Read(random)
	switch {
	case c.Name == "org":
		return []byte(uuid.New().String()[:24] + org.String()[24:])
	case c.Name == "hcl" || c.Name == "secret":
		return int64(random[0] % 2)
	case c.Kind == moving.Int:
		return int64(random[0])<<16 | int64(random[1])<<8 | int64(random[2])
	case c.Kind == moving.Text:
		return []byte(rand.Text())
	}
	return random
}

// told is what a store says to its callers.
type told struct {
	States   map[string]any
	Events   []audit.Event
	Usage    map[string]int64
	Chains   []audit.Verdict
	Totals   state.Totals
	Position uint64
	Located  []state.Located
}

// listen asks a store for everything.
func listen(t *testing.T, s configs.Settings, w world) string {
	t.Helper()
	store := openStates(t, s)
	all := told{States: map[string]any{}, Usage: map[string]int64{}}
	ctx := t.Context()
	for after := uint64(0); ; {
		events, err := store.Feed(ctx, after, 50)
		must(t, err)
		if len(events) == 0 {
			break
		}
		all.Events, after = append(all.Events, events...), events[len(events)-1].Sequence
	}
	for _, org := range w.orgs {
		page, err := store.States(ctx, org, state.StatesQuery{Limit: 100, Deleted: state.AnyDeletion})
		must(t, err)
		for _, one := range page.States {
			all.States[org.String()+string(one.Name)] = []any{one, bodies(ctx, t, store, state.Ref{Org: org, Name: one.Name})}
		}
		all.Usage[org.String()], err = store.Usage(ctx, org)
		must(t, err)
		v, err := audit.Verify(ctx, store, org, audit.Check{Limit: 10_000})
		must(t, err)
		if len(v.Breaks) > 0 {
			t.Errorf("the chain of %v has %+v", org, v.Breaks)
		}
		all.Chains = append(all.Chains, v)
	}
	var err error
	all.Totals, err = store.Totals(ctx)
	must(t, err)
	all.Located, err = store.All(ctx, state.Ref{}, 1000)
	must(t, err)
	must(t, store.Close())
	text, err := json.MarshalIndent(all, "", " ")
	must(t, err)
	return string(text)
}

// bodies are the digests of all that a state has.
func bodies(ctx context.Context, t *testing.T, store state.Store, ref state.Ref) (all []any) {
	t.Helper()
	versions, err := store.Versions(ctx, ref, 0, 1000)
	must(t, err)
	for _, v := range versions {
		snapshot, err := store.Version(ctx, ref, v.Number)
		all = append(all, v, sha256.Sum256(snapshot.Body), fmt.Sprint(err))
	}
	candidates, err := store.Candidates(ctx, ref, "", 1000)
	must(t, err)
	for _, c := range candidates {
		found, err := store.Candidate(ctx, ref, c.ID)
		must(t, err)
		all = append(all, c, sha256.Sum256(found.Body))
	}
	return all
}

func wantSame(t *testing.T, want, got string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Fatalf("a store says something else after a move:\n%.4000s", diff)
	}
}
