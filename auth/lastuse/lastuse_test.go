package lastuse

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/internal/logctx/logtest"
)

// useBench is a Tracker whose organization has the key 1, a token and a certificate rule.
type useBench struct {
	*Tracker
	t    *testing.T
	ring *keyring.Keyring
	log  logtest.Journal
	path string
}

func newUseBench(t *testing.T) *useBench {
	t.Helper()
	b := &useBench{
		t: t, ring: everything(),
		path: filepath.Join(t.TempDir(), "data", FileName),
	}
	b.open()
	return b
}

func (b *useBench) open() {
	b.Tracker = Open(b.t.Context(), Config{
		Path: b.path, Known: func() *keyring.Keyring { return b.ring }, Logger: slog.New(slog.NewTextHandler(&b.log, nil)),
		Now: time.Now,
	})
}

func (b *useBench) note(id, address string) {
	b.Note(auth.Principal{Org: orgA, KeyID: id, Address: address})
}

// written returns "id@address" for what the file says, and checks it.
func (b *useBench) written() string {
	b.t.Helper()
	uses, err := Read(b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	info, err := os.Stat(b.path)
	if err != nil || info.Mode() != 0o600 {
		b.t.Errorf("mode %v, %v", info.Mode(), err)
	}
	var all []string
	for _, id := range []string{keyOne, "oidc.github", "cert.ci"} {
		if use, ok := uses[Credential{orgA, id}]; ok {
			all = append(all, id+"@"+use.From)
		}
	}
	if len(all) != len(uses) {
		b.t.Errorf("the file has %d entries: %v", len(uses), uses)
	}
	return strings.Join(all, " ")
}

const keyOne = "0f3a9c21d4e5"

var orgA, orgB = uuid.MustParse("11111111-2222-3333-4444-555555555555"),
	uuid.MustParse("aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee")

func everything() *keyring.Keyring {
	return keyring.New(&keyring.Organization{
		ID:           orgA,
		Keys:         []keyring.StoredKey{{ID: keyOne}},
		Tokens:       []keyring.TokenRule{{Name: "github"}},
		Certificates: []keyring.CertificateRule{{Name: "ci"}},
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestLastUseIsWrittenOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newUseBench(t)
		b.note(keyOne, "192.0.2.1")
		b.note("oidc.github", "192.0.2.2")
		time.Sleep(59 * time.Second)
		b.note(keyOne, "192.0.2.3")
		synctest.Wait()
		if _, err := os.Stat(b.path); err == nil {
			t.Fatal("written within the minute")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := b.written(); got != keyOne+"@192.0.2.3 oidc.github@192.0.2.2" {
			t.Errorf("written: %s", got)
		}
		// Nothing new, nothing written; and Close writes at once.
		must(t, os.Remove(b.path))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if _, err := os.Stat(b.path); err == nil {
			t.Error("written although nothing changed")
		}
		b.note("cert.ci", "::1")
		must(t, b.Close())
		if got := b.written(); got != keyOne+"@192.0.2.3 oidc.github@192.0.2.2 cert.ci@::1" {
			t.Errorf("written: %s", got)
		}
	})
}

func TestLastUseGoesOnAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newUseBench(t)
		b.note(keyOne, "192.0.2.1")
		at := time.Now().UTC().Truncate(time.Second)
		must(t, b.Close())
		time.Sleep(time.Hour)
		b.open()
		b.note("cert.ci", "192.0.2.2")
		must(t, b.Close())
		uses, err := Read(b.path)
		want := Uses{{orgA, keyOne}: {at, "192.0.2.1"}, {orgA, "cert.ci"}: {at.Add(time.Hour), "192.0.2.2"}}
		if diff := cmp.Diff(want, uses); err != nil || diff != "" {
			t.Errorf("after a restart (-want +got), %v:\n%s", err, diff)
		}
	})
}

// What is revoked is forgotten, so that the file is no larger than auth.cfg.
func TestLastUseIsBoundByTheKeyring(t *testing.T) {
	b := newUseBench(t)
	b.note(keyOne, "192.0.2.1")
	b.note("cert.ci", "192.0.2.2")
	b.note("cert.other", "192.0.2.3")
	b.Note(auth.Principal{Org: orgB, KeyID: keyOne})
	must(t, b.Close())
	if got := b.written(); got != keyOne+"@192.0.2.1 cert.ci@192.0.2.2" {
		t.Errorf("written: %s", got)
	}
	b.ring = keyring.New(&keyring.Organization{ID: orgA, Keys: []keyring.StoredKey{{ID: keyOne}}})
	b.open()
	b.note(keyOne, "192.0.2.4")
	must(t, b.Close())
	if got := b.written(); got != keyOne+"@192.0.2.4" {
		t.Errorf("written: %s", got)
	}
}

func TestDamagedLastUseIsReplaced(t *testing.T) {
	for _, text := range []string{"", "{", `{"keys":[{"organization":"x"}]}`, `[]`, `{"keys":[{"at":"yesterday"}]}`,
		"\x00\xff"} {
		b := newUseBench(t)
		must(t, b.Close())
		must(t, os.MkdirAll(filepath.Dir(b.path), 0o700))
		must(t, os.WriteFile(b.path, []byte(text), 0o644))
		b.open()
		if log := b.log.String(); !strings.Contains(log, "remembered anew") {
			t.Errorf("%q: logged %q", text, log)
		}
		b.note(keyOne, "192.0.2.1")
		must(t, b.Close())
		if got := b.written(); got != keyOne+"@192.0.2.1" {
			t.Errorf("%q: written: %s", text, got)
		}
	}
}

// A full or missing disk loses nothing that a later write can bring.
func TestLastUseIsWrittenAgainAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newUseBench(t)
		dir := filepath.Dir(b.path)
		must(t, os.WriteFile(dir, nil, 0o600)) // in the folder's place
		b.note(keyOne, "192.0.2.1")
		time.Sleep(time.Minute)
		synctest.Wait()
		if log := b.log.String(); !strings.Contains(log, "tried again in a minute") {
			t.Errorf("logged %q", log)
		}
		must(t, os.Remove(dir))
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := b.written(); got != keyOne+"@192.0.2.1" {
			t.Errorf("written: %s", got)
		}
		must(t, b.Close())
	})
}

func TestLastUseIsNotedByManyAtOnce(t *testing.T) {
	b := newUseBench(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				b.note(keyOne, "192.0.2.1")
			}
		})
	}
	all.Wait()
	must(t, b.Close())
	if got := b.written(); got != keyOne+"@192.0.2.1" {
		t.Errorf("written: %s", got)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(b.path), "."+FileName+".new")); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}

func TestNoLastUseYet(t *testing.T) {
	if _, err := Read(filepath.Join(t.TempDir(), FileName)); !os.IsNotExist(err) {
		t.Errorf("error %v, want %v", err, fs.ErrNotExist)
	}
}
