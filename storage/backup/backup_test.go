package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a folder with a database that is written to, and one of uploads.
type world struct {
	t   *testing.T
	dir string
	db  *sql.DB
	who *age.X25519Identity
}

func newWorld(t *testing.T) *world {
	who, err := age.GenerateX25519Identity()
	must(t, err)
	w := &world{t: t, dir: t.TempDir(), who: who}
	w.db, err = sql.Open("sqlite", filepath.Join(w.dir, "state.db"))
	must(t, err)
	w.db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = w.db.Close() })
	w.exec("PRAGMA journal_mode = WAL")
	w.exec("CREATE TABLE secrets (id INTEGER PRIMARY KEY, text TEXT)")
	w.add("hunter2-the-first")
	must(t, os.WriteFile(filepath.Join(w.dir, "0b0e6a64-6a2a-4c05-a4b1-0f6b1f3f6a01.csv"), []byte("a,b\r\n"), 0o600))
	return w
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	_, err := w.db.Exec(query, args...)
	must(w.t, err)
}

func (w *world) add(text string) { w.exec("INSERT INTO secrets (text) VALUES (?)", text) }

// fill makes the database so large that most of its blocks don't change.
func (w *world) fill() {
	for range 100 {
		noise := make([]byte, 16<<10)
		_, _ = rand.Read(noise)
		w.exec("INSERT INTO secrets (text) VALUES (?)", noise)
	}
}

func (w *world) fix() *Moment {
	w.t.Helper()
	m, err := Folder{Dir: w.dir}.Fix(w.t.Context(), time.Now())
	must(w.t, err)
	w.t.Cleanup(func() { _ = m.Close() })
	return m
}

func (w *world) back(since *Index) ([]byte, Index) {
	w.t.Helper()
	var out bytes.Buffer
	m := w.fix()
	_, index, err := Write(w.t.Context(), &out, m, Options{To: []age.Recipient{w.who.Recipient()}, Since: since})
	must(w.t, errors.Join(err, m.Close()))
	return out.Bytes(), index
}

func opens(archives ...[]byte) (all []Archive) {
	for _, a := range archives {
		open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(a)), nil }
		all = append(all, Archive{Open: open})
	}
	return all
}

func (w *world) restore(dir string, archives ...[]byte) error {
	_, err := Restore(opens(archives...), []age.Identity{w.who}, dir, nil, nil)
	return err
}

// texts are those of a restored database, the long ones left out.
func texts(t *testing.T, dir string) string {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "state.db"))
	must(t, err)
	defer db.Close()
	var all sql.NullString
	must(t, db.QueryRow("SELECT group_concat(text, ' ') FROM secrets WHERE length(text) < 100").Scan(&all))
	return all.String
}

// TestMoment: a backup has the moment at which it was fixed, whatever is written while it is read, and what
// nobody can read without the identity.
func TestMoment(t *testing.T) {
	w := newWorld(t)
	m := w.fix()
	w.add("later")
	var out bytes.Buffer
	_, _, err := Write(t.Context(), &out, m, Options{To: []age.Recipient{w.who.Recipient()}})
	must(t, err)
	if bytes.Contains(out.Bytes(), []byte("hunter2")) {
		t.Error("the archive can be read")
	}
	dir := filepath.Join(t.TempDir(), "new")
	must(t, w.restore(dir, out.Bytes()))
	if got := texts(t, dir); got != "hunter2-the-first" {
		t.Errorf("restored %q", got)
	}
	if _, err := Verify(opens(out.Bytes()), nil); err == nil || !strings.Contains(err.Error(), "--identity") {
		t.Errorf("without an identity: %v", err)
	}
}

// TestSince: what changed since another backup is small, and restored behind it and no other.
func TestSince(t *testing.T) {
	w := newWorld(t)
	w.fill()
	first, index := w.back(nil)
	w.add("second")
	must(t, os.WriteFile(filepath.Join(w.dir, "notices.db"), nil, 0o600)) // empty: as if it were not there
	second, index := w.back(&index)
	w.exec("DELETE FROM secrets WHERE length(text) > 100")
	w.exec("VACUUM") // it gets shorter
	must(t, os.Remove(filepath.Join(w.dir, "0b0e6a64-6a2a-4c05-a4b1-0f6b1f3f6a01.csv")))
	third, _ := w.back(&index)
	if len(second) > len(first)/10 {
		t.Errorf("the changes have %d bytes, all has %d", len(second), len(first))
	}
	who := []age.Identity{w.who}
	for n, archives := range [][][]byte{{first}, {first, second}, {first, second, third}} {
		_, err := Verify(opens(archives...), who)
		must(t, err)
		dir := t.TempDir() // an empty one is as good as none
		must(t, w.restore(dir, archives...))
		want := []string{"hunter2-the-first", "hunter2-the-first second", "hunter2-the-first second"}[n]
		if got := texts(t, dir); got != want {
			t.Errorf("%d archives: %q", n+1, got)
		}
		_, err = os.Stat(filepath.Join(dir, "0b0e6a64-6a2a-4c05-a4b1-0f6b1f3f6a01.csv"))
		if gone := errors.Is(err, os.ErrNotExist); gone != (n == 2) {
			t.Errorf("%d archives: uploads are gone: %v", n+1, gone)
		}
	}
	for _, wrong := range [][][]byte{{second}, {first, third}, {second, first}} {
		dir := filepath.Join(t.TempDir(), "new")
		if err := w.restore(dir, wrong...); err == nil {
			t.Error("archives that don't belong together were restored")
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("something is left: %v", err)
		}
		if _, err := Verify(opens(wrong...), who); err == nil {
			t.Error("archives that don't belong together were verified")
		}
	}
}

// TestSinceReturns: a file that one backup of a chain has not, and a later one has again, is restored as each
// has it; so is one that got shorter and longer.
func TestSinceReturns(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.dir, "0b0e6a64-6a2a-4c05-a4b1-0f6b1f3f6a01.csv")
	texts := []string{strings.Repeat("a", 3*blockSize), "", "b", "b" + strings.Repeat("c", 2*blockSize), "",
		strings.Repeat("a", 3*blockSize), strings.Repeat("a", blockSize), strings.Repeat("a", 3*blockSize)}
	var since *Index
	var archives [][]byte
	for n, text := range texts {
		must(t, os.RemoveAll(path))
		if text != "" {
			must(t, os.WriteFile(path, []byte(text), 0o600))
		}
		archive, index := w.back(since)
		archives, since = append(archives, archive), &index
		if _, err := Verify(opens(archives...), []age.Identity{w.who}); err != nil {
			t.Errorf("%d archives: %v", n+1, err)
		}
		dir := filepath.Join(t.TempDir(), "new")
		if err := w.restore(dir, archives...); err != nil {
			t.Errorf("%d archives: %v", n+1, err)
			continue
		}
		got, err := os.ReadFile(filepath.Join(dir, filepath.Base(path)))
		if string(got) != text || text != "" && err != nil {
			t.Errorf("%d archives: restored %d bytes, want %d: %v", n+1, len(got), len(text), err)
		}
	}
}

// TestMissing: what is missing is not passed over.
func TestMissing(t *testing.T) {
	empty := func(f *Folder, name string) error { return os.WriteFile(filepath.Join(f.Dir, name), nil, 0o600) }
	for name, c := range map[string]struct {
		with func(*Folder) error
		want string // in the error; empty where nothing is missed
	}{
		"nothing":          {func(*Folder) error { return nil }, ""},
		"no outbox":        {func(f *Folder) error { return empty(f, "outbox.db") }, ""},
		"states are gone":  {func(f *Folder) error { return os.Remove(filepath.Join(f.Dir, "state.db")) }, "state.db, which"},
		"states are empty": {func(f *Folder) error { return empty(f, "state.db") }, "state.db, which"},
		"only a WAL": {func(f *Folder) error {
			f.Dir = t.TempDir()
			return os.WriteFile(filepath.Join(f.Dir, "state.db-wal"), []byte("pages"), 0o600)
		}, "state.db-wal"},
		"a WAL of runs": {func(f *Folder) error {
			return errors.Join(empty(f, "runs.db"), os.WriteFile(filepath.Join(f.Dir, "runs.db-wal"), []byte("pages"), 0o600))
		}, "runs.db-wal"},
		"another folder": {func(f *Folder) error { f.Dir = t.TempDir(); return nil }, "STORAGE_PATH"},
		"was in the one before": {func(f *Folder) error {
			f.Before = &Index{Files: map[string][]digest{"runs.db": {}}}
			return nil
		}, "runs.db is missing"},
		"master key": {func(f *Folder) error {
			f.Others = map[string]string{"master.key": filepath.Join(f.Dir, "mk")}
			return nil
		}, "master.key is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			must(t, w.db.Close())
			copyDatabase(t, w.dir, "notices.db")
			f := Folder{Dir: w.dir}
			must(t, c.with(&f))
			m, err := f.Fix(t.Context(), time.Now())
			if err == nil {
				must(t, m.Close())
			}
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			var told []string
			f.Unreadable = func(name string, _ error) { told = append(told, name) }
			m, err = f.Fix(t.Context(), time.Now())
			if err == nil {
				must(t, m.Close())
			}
			if wantTold := c.want != "" && c.want != "STORAGE_PATH"; wantTold != (len(told) == 1) || wantTold && err != nil {
				t.Errorf("who reads what there is was told of %v: %v", told, err)
			}
		})
	}
}

// copyDatabase has another database, which is a copy of the states'.
func copyDatabase(t *testing.T, dir, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "state.db"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
}

// TestDamage: no bit of an archive can be another one, and no end missing, without that being said.
func TestDamage(t *testing.T) {
	w := newWorld(t)
	good, _ := w.back(nil)
	who := []age.Identity{w.who}
	try := func(what string, bad []byte) {
		if _, err := Verify(opens(bad), who); err == nil {
			t.Errorf("%s: verified", what)
		}
		dir := filepath.Join(t.TempDir(), "new")
		if err := w.restore(dir, bad); err == nil {
			t.Errorf("%s: restored", what)
		}
		left, err := os.ReadDir(filepath.Dir(dir))
		if err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", what, left, err)
		}
	}
	random := mathrand.New(mathrand.NewPCG(1, 2))
	for range 200 {
		bad := bytes.Clone(good)
		bad[random.IntN(len(bad))] ^= 1 << random.IntN(8)
		try("a bit", bad)
		try("cut", good[:random.IntN(len(good))])
	}
}

// TestRestoreOverwritesNothing also where a restore was killed before.
func TestRestoreOverwritesNothing(t *testing.T) {
	w := newWorld(t)
	good, _ := w.back(nil)
	parent := t.TempDir()
	dir := filepath.Join(parent, "data")
	must(t, os.MkdirAll(filepath.Join(parent, ".data.restoring", "half"), 0o700))
	must(t, w.restore(dir, good))
	if err := w.restore(dir, good); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("into a folder with something: %v", err)
	}
	entries, err := os.ReadDir(parent)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("beside it is %v", entries)
	}
}

// hostile is an archive of parts that no backup has.
func hostile(t *testing.T, heads ...tar.Header) []byte {
	var out bytes.Buffer
	packed, err := zstd.NewWriter(&out)
	must(t, err)
	w := tar.NewWriter(packed)
	add := func(h tar.Header, text []byte) {
		h.Size, h.Mode = int64(len(text)), 0o600
		if h.Typeflag != 0 && h.Typeflag != tar.TypeReg {
			h.Size, text = 0, nil
		}
		must(t, w.WriteHeader(&h))
		_, err := w.Write(text)
		must(t, err)
	}
	begin := Begin{Format: format, ID: "one"}
	text, err := json.Marshal(begin)
	must(t, err)
	add(tar.Header{Name: beginName}, text)
	for _, h := range heads {
		add(h, []byte("evil"))
	}
	text, err = json.Marshal(Manifest{Begin: begin})
	must(t, err)
	add(tar.Header{Name: manifestName}, text)
	must(t, errors.Join(w.Close(), packed.Close()))
	return out.Bytes()
}

func TestHostileArchives(t *testing.T) {
	for _, bad := range []tar.Header{
		{Name: "files/../evil"}, {Name: "../evil"}, {Name: "/evil"}, {Name: "files/a/b"}, {Name: "files"},
		{Name: "files/.hidden"}, {Name: "files/..", Typeflag: tar.TypeDir}, {Name: "changes/state.db@-32768"},
		{Name: "changes/state.db@1"}, {Name: "changes/state.db@32768"}, {Name: "files/CON:1"},
		{Name: "files/link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "files/link", Typeflag: tar.TypeLink, Linkname: "../evil"},
	} {
		dir := filepath.Join(t.TempDir(), "new")
		_, err := Restore(opens(hostile(t, bad)), nil, dir, nil, nil)
		if err == nil {
			t.Errorf("%v was restored", bad.Name)
		}
		if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) > 0 {
			t.Errorf("%v left %v", bad.Name, left)
		}
		if _, err := Verify(opens(hostile(t, bad)), nil); err == nil {
			t.Errorf("%v was verified", bad.Name)
		}
	}
	twice := tar.Header{Name: "files/state.db"}
	if _, err := Restore(opens(hostile(t, twice, twice)), nil, filepath.Join(t.TempDir(), "n"), nil, nil); err == nil {
		t.Error("a file that is there twice was restored")
	}
	if _, err := Verify(opens(hostile(t, twice, twice)), nil); err == nil {
		t.Error("a file that is there twice was verified")
	}
}

// TestSubstituted: an archive that somebody put in the place of another one is refused, as far as that can be told.
func TestSubstituted(t *testing.T) {
	w := newWorld(t)
	_, index := w.back(nil)
	w.add("evil")
	other, otherIndex := w.back(nil)
	var plain bytes.Buffer
	m := w.fix()
	_, _, err := Write(t.Context(), &plain, m, Options{})
	must(t, errors.Join(err, m.Close()))
	try := func(want string, archive []byte, index *Index) {
		t.Helper()
		all := opens(archive)
		all[0].Index = index
		_, errVerify := Verify(all, []age.Identity{w.who})
		_, errRestore := Restore(all, []age.Identity{w.who}, filepath.Join(t.TempDir(), "new"), nil, nil)
		for _, err := range []error{errVerify, errRestore} {
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
	try("not encrypted", plain.Bytes(), nil)
	try("its index", other, &index)
	try("", other, &otherIndex)
	try("", other, &Index{ID: "of an older program"})
}

// TestInterrupted: an archive whose writing ends early is none.
func TestInterrupted(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	m := w.fix()
	cancel()
	var out bytes.Buffer
	if _, _, err := Write(ctx, &out, m, Options{To: []age.Recipient{w.who.Recipient()}}); err == nil {
		t.Error("it was written to its end")
	}
	if _, err := Verify(opens(out.Bytes()), []age.Identity{w.who}); err == nil {
		t.Error("it is taken for a backup")
	}
}
