package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
	"github.com/holdfast/holdfast/storage/stateengine/enginetest"
)

// world is what the store of a folder has.
type world struct {
	*enginetest.World
	dir    string
	master *seal.Master
}

// populate fills a folder's store.
func populate(t testing.TB, dir string) *world {
	t.Helper()
	s := open(t, dir)
	s.bodies.DeltaFrom = 1
	w := enginetest.Populate(t, s, uuid.UUID{1}, uuid.UUID{2})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return &world{World: w, dir: dir, master: masterIn(dir)}
}

// check opens the store, and wants each body that it returns to be the very one. Where all is set, it wants all of
// them. It returns how many were refused.
func (w *world) check(t *testing.T, all bool) (refused int) {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: w.dir, Master: w.master})
	if err != nil {
		if all {
			t.Fatal(err)
		}
		return 1
	}
	defer func() { _ = s.Close() }()
	return w.Check(t, s, all)
}

// raw runs statements on the database of a store that is closed.
func raw(t testing.TB, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, one := range statements {
		if _, err := db.ExecContext(context.Background(), one); err != nil {
			t.Fatalf("%s: %v", one, err)
		}
	}
}

// TestSwappedRows puts rows in the place of others, between tenants, states, versions and kinds: none is believed.
func TestSwappedRows(t *testing.T) {
	const (
		orgA, orgB = "01000000-0000-0000-0000-000000000000", "02000000-0000-0000-0000-000000000000"
		row        = `(SELECT v.id FROM versions v JOIN states s ON s.id = v.state
			WHERE s.org = '%s' AND s.name = '%s' AND v.number = %d)`
	)
	of := func(org, name string, number int) string { return fmt.Sprintf(row, org, name, number) }
	copied := func(table, columns, from, to string) string {
		return fmt.Sprintf(`UPDATE %s SET (%s) = (SELECT %s FROM %s WHERE id = %s) WHERE id = %s`, table, columns, columns,
			table, from, to)
	}
	const body, digest = "encoding, bytes", "digest, size"
	a1, a2 := of(orgA, "prod/a", 1), of(orgA, "prod/a", 2)
	others := map[string]string{"tenants": of(orgB, "prod/a", 1), "states": of(orgA, "prod/b", 1), "versions": a2}
	cases := map[string][]string{
		"numbers": {`UPDATE versions SET number = -number WHERE number IN (1, 2)`,
			`UPDATE versions SET number = CASE number WHEN -1 THEN 2 ELSE 1 END WHERE number < 0`},
		"organizations": {`UPDATE states SET org = 'x' WHERE org = '` + orgA + `'`,
			`UPDATE states SET org = '` + orgA + `' WHERE org = '` + orgB + `'`,
			`UPDATE states SET org = '` + orgB + `' WHERE org = 'x'`},
		"names": {`UPDATE states SET name = 'x' WHERE name = 'prod/a'`,
			`UPDATE states SET name = 'prod/a' WHERE name = 'prod/b'`, `UPDATE states SET name = 'prod/b' WHERE name = 'x'`},
		"candidates": {`UPDATE bodies SET (encoding, bytes, base) =
			(SELECT encoding, bytes, NULL FROM candidates ORDER BY row LIMIT 1) WHERE id = ` + a1},
		"versions as candidates": {
			`UPDATE candidates SET (encoding, bytes) = (SELECT encoding, bytes FROM bodies WHERE id = ` + a1 + `)`,
			`UPDATE candidates SET (digest, size) = (SELECT digest, size FROM versions WHERE id = ` + a1 + `)`},
		"encodings": {`UPDATE bodies SET encoding = CASE encoding WHEN 'raw' THEN 'zstd' ELSE 'raw' END`},
		"plain rows": {`UPDATE bodies SET encoding = 'raw', bytes = x'7b7d', base = NULL`,
			fmt.Sprintf(`UPDATE versions SET size = 2, digest = x'%x'`, sha256.Sum256([]byte("{}")))},
		"newest": {`UPDATE states SET newest = ` + of(orgB, "prod/b", 2) + ` WHERE org = '` + orgA + `'`},
	}
	for what, to := range others {
		cases[what] = []string{copied("bodies", body+", base", a1, to)}
		cases[what+", digests"] = append(cases[what], copied("versions", digest, a1, to))
	}
	for name, statements := range cases {
		t.Run(name, func(t *testing.T) {
			w := populate(t, t.TempDir())
			w.check(t, true)
			raw(t, w.dir, append([]string{"PRAGMA foreign_keys = 0"}, statements...)...)
			if refused := w.check(t, false); refused == 0 {
				t.Error("nothing was refused")
			}
		})
	}
}

// TestMark has the database say nothing of whose master keys it was sealed under, or something else: it is not opened,
// nor without a master key.
func TestMark(t *testing.T) {
	for name, statement := range map[string]string{
		"no mark":      `DELETE FROM sealing`,
		"another mark": `UPDATE sealing SET mark = randomblob(32)`,
	} {
		t.Run(name, func(t *testing.T) {
			w := populate(t, t.TempDir())
			raw(t, w.dir, statement)
			if s, err := Open(t.Context(), Options{Dir: w.dir, Master: w.master}); err == nil {
				t.Error("it was opened", s.Close())
			}
		})
	}
	for what, dir := range map[string]string{"sealed": populate(t, t.TempDir()).dir, "new": t.TempDir()} {
		if s, err := Open(t.Context(), Options{Dir: dir}); !fault.Is(err, fault.SealKeyMissing) {
			t.Errorf("a %s store without a master key: %v, %v", what, s, err)
		}
	}
}

// TestFlippedBits flips bits anywhere in the database: what is returned is what was stored, or nothing.
func TestFlippedBits(t *testing.T) {
	w := populate(t, t.TempDir())
	path := filepath.Join(w.dir, databaseName)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const rounds, flips = 150, 40
	refused := 0
	for range rounds {
		bad := bytes.Clone(good)
		for range flips {
			bad[100+rand.IntN(len(bad)-100)] ^= 1 << rand.IntN(8)
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		refused += w.check(t, false)
		for _, end := range []string{"-wal", "-shm"} {
			_ = os.Remove(path + end)
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// TestFlippedBodies flips each of thousands of bits of what is stored of states.
func TestFlippedBodies(t *testing.T) {
	w := populate(t, t.TempDir())
	s := open(t, w.dir)
	defer s.Close()
	ref := state.Ref{Org: uuid.UUID{1}, Name: "prod/a"}
	in := s.bodies.Seals.Of(t.Context(), ref)
	err := s.borrow(t.Context(), func(r *reader) error {
		found, err := scanStored(in, r.version, []any{ref.Org.String(), string(ref.Name), 1})
		if err != nil {
			return err
		}
		for bit := range 8 * len(found.own.Bytes) {
			bad := found.own
			bad.Bytes = bytes.Clone(bad.Bytes)
			bad.Bytes[bit/8] ^= 1 << (bit % 8)
			body, err := s.bodies.Decode(in, stateengine.Place{Number: 1}, found.version, bad, stateengine.Stored{})
			if err == nil {
				return fmt.Errorf("bit %d: %q was returned", bit, body)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// found says which files below folders have a text.
func foundIn(t testing.TB, text []byte, dirs ...string) (in []string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // SQLite's temporary files go at any time
			}
			if content, err := os.ReadFile(path); err == nil && bytes.Contains(content, text) {
				in = append(in, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return in
}

// TestNothingPlain looks for planted secrets, and for what tells equal states, in all files of a store, while it is
// used and after. What is kept plain, such as a state's name, it finds.
func TestNothingPlain(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("SQLITE_TMPDIR", temporary)
	dir := t.TempDir()
	w := populate(t, dir)
	ref := state.Ref{Org: uuid.UUID{1}, Name: "prod/a"}
	digest := sha256.Sum256(w.Versions[ref][0])
	s := open(t, dir)
	mustPut(t, s, newRef("noise"), append([]byte(enginetest.Planted), noise(2000)...)) // that is not compressed
	look := func(when string) {
		for what, text := range map[string][]byte{"secret": []byte(enginetest.Planted), "digest": digest[:]} {
			if in := foundIn(t, text, dir, temporary); len(in) > 0 {
				t.Errorf("%s the %s is in %v", when, what, in)
			}
		}
		if in := foundIn(t, []byte(ref.Name), dir, temporary); len(in) == 0 {
			t.Errorf("%s the name is in no file: this test does not look where it should", when)
		}
	}
	look("while it is open")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	look("after its end")
}

// TestEqualStates has two tenants, and two states of one, with the same bytes: nothing in the rows is the same.
func TestEqualStates(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	refs := []state.Ref{{Org: uuid.UUID{1}, Name: "a"}, {Org: uuid.UUID{2}, Name: "a"}, {Org: uuid.UUID{1}, Name: "b"}}
	for _, ref := range refs {
		mustPut(t, s, ref, []byte("the same bytes"))
	}
	var digests, bodies int
	err := s.session.conn.QueryRowContext(t.Context(),
		`SELECT count(DISTINCT digest), count(DISTINCT bytes) FROM versions v JOIN bodies b ON b.id = v.id`).
		Scan(&digests, &bodies)
	if err != nil || digests != len(refs) || bodies != len(refs) {
		t.Errorf("%d digests and %d bodies differ, %v", digests, bodies, err)
	}
	for _, ref := range refs {
		head, err := s.Head(t.Context(), ref)
		if err != nil || head.Version.Digest != sha256.Sum256([]byte("the same bytes")) {
			t.Errorf("the digest is %v, %v", head.Version.Digest, err)
		}
	}
}

// TestShredDestroysKeys: what is left of an organization's states anywhere can't be opened any more.
func TestShredDestroysKeys(t *testing.T) {
	w := populate(t, t.TempDir())
	s := open(t, w.dir)
	defer s.Close()
	gone, stays := uuid.UUID{1}, uuid.UUID{2}
	before, err := s.keys.DataKeys(t.Context(), gone)
	if err != nil || len(before) != 1 {
		t.Fatal(before, err)
	}
	for {
		n, err := s.Shred(t.Context(), gone, 10)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
	}
	if owners, err := s.keys.owners(t.Context()); err != nil || !slices.Equal(owners, []uuid.UUID{stays}) {
		t.Errorf("there are keys of %v, %v", owners, err)
	}
	if in := foundIn(t, before[0].Wrapped, w.dir); len(in) > 0 {
		t.Errorf("the key is in %v", in)
	}
	if _, err := s.Current(t.Context(), state.Ref{Org: stays, Name: "prod/a"}); err != nil {
		t.Error(err)
	}
}

// TestRewrap has a new master key wrap the data keys: the old one is needed no more, and all is there.
func TestRewrap(t *testing.T) {
	dir := t.TempDir()
	sealtest.MakeMaster(t, dir)
	w, path := populate(t, dir), sealtest.MasterFile(dir)
	old := w.master
	if err := seal.AddMaster(path); err != nil {
		t.Fatal(err)
	}
	s := open(t, w.dir)
	fresh := sealtest.MasterIn(w.dir)
	if n, err := s.Rewrap(t.Context(), fresh); err != nil || n != 2 {
		t.Fatalf("%d keys were wrapped, %v", n, err)
	}
	if failed, err := s.UnopenedKeys(t.Context()); err != nil || len(failed) > 0 {
		t.Errorf("keys can't be opened: %v, %v", failed, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(t.Context(), Options{Dir: w.dir, Master: old}); err == nil {
		t.Error("the old key opens it", s.Close())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if err := os.WriteFile(path, append(bytes.Join(lines[:len(lines)-1], []byte("\n")), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	w.master = sealtest.MasterIn(w.dir)
	w.check(t, true)
}
