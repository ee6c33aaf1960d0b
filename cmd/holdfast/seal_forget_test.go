package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// other is another organization's shell for the same server.
func (s tenant) other(name string) tenant {
	key := newKey{Organization: uuid.MustParse(strings.TrimSpace(s.must("org", "add", name)))}
	key.Key = strings.TrimSpace(s.must("key", "add", name))
	return tenant{s.shell, key}
}

// textOf returns what is in a file.
func (s *shell) textOf(path string) string {
	s.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// wantState has a server answer with a state, or with why it can't.
func (s tenant) wantState(r *running, status int, want string) {
	s.t.Helper()
	if got, body := s.call(r, "GET", "/api/v1/state/app", ""); got != status || !strings.Contains(body, want) {
		s.t.Errorf("%d %s; want %d …%s…", got, body, status, want)
	}
}

// TestShredReachesBackups restores a backup from before an organization was removed with its data: with the master keys
// as they are then nothing of it can be read, and all of another one's. With a copy of the keys from before it can,
// until that copy has forgotten it too.
func TestShredReachesBackups(t *testing.T) {
	acme := newTenant(t)
	acme.beside()
	s, globex := acme.shell, acme.other("Globex")
	r := s.start()
	for _, one := range []tenant{acme, globex} {
		if status, body := one.call(r, "POST", "/api/v1/state/app", stateOf(1000)); status != 200 {
			t.Fatal(status, body)
		}
	}
	dir := t.TempDir()
	backup, keys := filepath.Join(dir, "monday.hfb"), filepath.Join(s.data, "master.key")
	s.must("backup", "-o", backup, "--unencrypted")
	copied := s.write("copy.key", s.textOf(keys))
	s.must("org", "shred", "default", "--yes", "--name", "default")
	if line := r.await("all data of an organization that was removed is destroyed"); line["master_keys"] != float64(1) {
		t.Errorf("the log says %v", line)
	}
	globex.wantState(r, 200, stateOf(1000))
	org := acme.key.Organization.String()
	s.refuse(exitFailed, "a server runs", "seal", "forget", org, "--yes")
	s.refuse(exitFailed, "is in", "seal", "forget", globex.key.Organization.String(), "--yes", "--master-key-file", copied)
	s.refuse(exitUsage, "is not the ID", "seal", "forget", "Globex", "--yes", "--master-key-file", copied)
	s.refuse(exitUsage, "--yes", "seal", "forget", org, "--master-key-file", copied)
	s.refuse(exitFailed, "may let it in again", "seal", "forget", uuid.NewString(), "--yes", "--master-key-file", copied)
	s.refuse(exitFailed, "can't be told", "seal", "forget", org, "--yes", "--master-key-file", copied, "--auth-file",
		copied+".none")
	globex.useAgain(org, r)
	r.stop()
	r.wait()

	then := acme.restored(backup)
	forget := []string{"seal", "forget", org, "--yes", "--master-key-file", copied, "--unchecked"}
	for _, now := range []struct {
		master string
		status int
		want   string
	}{{keys, 500, "forgotten"}, {copied, 200, stateOf(1000)}, {copied, 500, "forgotten"}} {
		r := then.start("HOLDFAST_SEAL_MASTER_KEY_FILE=" + now.master)
		then.wantState(r, now.status, now.want)
		tenant{then.shell, globex.key}.wantState(r, 200, stateOf(1000))
		r.await("the resource index is complete")
		r.stop()
		r.wait()
		then.wantDoctor(now.master, now.status != 200)
		if now.master == copied {
			s.must(forget...)
		}
	}
	if out := s.must(forget...); !strings.Contains(out, "already") {
		t.Errorf("once more: %s", out)
	}
}

// wantDoctor has the doctor look at a store with a master key file: where an organization is forgotten it says to
// remove it again, and never to look for its keys.
func (s tenant) wantDoctor(master string, forgotten bool) {
	s.t.Helper()
	asking := *s.shell
	asking.environ = append(slices.Clone(s.environ), "HOLDFAST_SEAL_MASTER_KEY_FILE="+master)
	_, out, errs := asking.run("doctor")
	if strings.Contains(out, "holdfast org shred") != forgotten || strings.Contains(out, "put the master key file") {
		s.t.Errorf("the doctor says %s%s", out, errs)
	}
}

// restored is the same organization on a machine on which a backup is restored, with what that has of auth.cfg.
func (s tenant) restored(backup string) tenant {
	s.t.Helper()
	there := *s.shell
	there.file = filepath.Join(s.t.TempDir(), "auth.cfg")
	there.data = there.file + ".data"
	s.must("restore", backup, "--to", there.data)
	if err := os.Rename(filepath.Join(there.data, "auth.cfg"), there.file); err != nil {
		s.t.Fatal(err)
	}
	return tenant{&there, s.key}
}

// useAgain has a new organization get the ID of one that is gone: it needs a new master key, and is told so.
func (s tenant) useAgain(org string, r *running) {
	s.t.Helper()
	s.must("org", "add", "Anew", "--id", org)
	key := strings.TrimSpace(s.must("key", "add", "Anew"))
	anew := tenant{s.shell, newKey{Organization: uuid.MustParse(org), Key: key}}
	if status, body := anew.call(r, "POST", "/api/v1/state/app", stateOf(100)); status != 500 ||
		!strings.Contains(body, "holdfast seal rotate") {
		s.t.Errorf("%d %s", status, body)
	}
	s.must("seal", "rotate")
	if status, body := anew.call(r, "POST", "/api/v1/state/app", stateOf(100)); status != 200 {
		s.t.Errorf("%d %s", status, body)
	}
	anew.wantState(r, 200, stateOf(100))
}

// TestShredWithKeysElsewhere: where the server can't change its master keys it says what is left to do, and goes on.
func TestShredWithKeysElsewhere(t *testing.T) {
	s := newTenant(t)
	s.beside()
	r := s.start("HOLDFAST_SEAL_MASTER_KEYS=" + strings.Repeat("1f", 32))
	if status, body := s.call(r, "POST", "/api/v1/state/app", stateOf(100)); status != 200 {
		t.Fatal(status, body)
	}
	s.must("org", "shred", "default", "--yes", "--name", "default")
	r.await("all data of an organization that was removed is destroyed")
	if !strings.Contains(r.log.String(), "`holdfast seal forget`") {
		t.Errorf("the log says nothing of what is left to do:\n%s", r.log)
	}
	r.stop()
	r.wait()
}
