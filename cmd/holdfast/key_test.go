package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeyLife(t *testing.T) {
	s := newShell(t)
	s.must("init", "--org-name", "Acme")
	code, out, errs := s.run("key", "add", "Acme", "--label", "laptop")
	key := strings.TrimSuffix(out, "\n")
	if code != exitOK || !s.opens(key) {
		t.Fatalf("exit %d, stdout %q, stderr %q", code, out, errs)
	}
	if strings.Contains(errs, key) || !strings.Contains(errs, "shown only now") {
		t.Errorf("stderr %q", errs)
	}
	org := s.doc().Organizations()[0]
	id := org.Keys[1].ID

	if out := s.must("key", "list", "Acme", "--wide"); !strings.Contains(out, id+
		"  -     owner  all     never    anywhere  unknown    2026-11-21 laptop\n") || strings.Contains(out, "$2a$") {
		t.Errorf("listed\n%s", out)
	}
	var rows []keyRow
	if err := json.Unmarshal([]byte(s.must("key", "list", "--json")), &rows); err != nil || len(rows) != 2 {
		t.Fatalf("%v, %v", rows, err)
	}
	want := keyRow{Organization: org.ID, Name: "Acme", KeyID: id, keyLimits: keyLimits{Role: "owner"}, LastUsed: "unknown",
		Cost: 10, Label: "2026-11-21 laptop"}
	if diff := cmp.Diff(want, rows[1], cmp.AllowUnexported(keyRow{})); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}

	if out := s.must("key", "revoke", org.ID.String(), strings.ToUpper(id), "--yes"); !strings.Contains(out,
		"Revoked key "+id) {
		t.Errorf("printed %q", out)
	}
	if s.opens(key) {
		t.Error("the revoked key is still there")
	}
	s.refuse(exitFailed, "has no key", "key", "revoke", "Acme", id, "--yes")
}

func TestKeyAddPrintsJSON(t *testing.T) {
	s := newShell(t)
	s.must("init")
	var got newKey
	if err := json.Unmarshal([]byte(s.must("key", "add", "default", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	org := s.doc().Organizations()[0]
	if !s.opens(got.Key) || got.Organization != org.ID || got.Name != "default" || got.KeyID != org.Keys[1].ID {
		t.Errorf("printed %+v", got)
	}
}

func TestRevokeAsks(t *testing.T) {
	s := newShell(t)
	s.must("init")
	id := s.doc().Organizations()[0].Keys[0].ID
	revoke := []string{"key", "revoke", "default", id}
	s.refuse(exitUsage, "confirm with --yes", revoke...)
	s.interactive = true
	for _, answer := range []string{"", "no\n", "y\n"} {
		s.stdin = answer
		if code, _, errs := s.run(revoke...); code != exitFailed || !strings.Contains(errs, "nothing was done") {
			t.Errorf("answer %q: exit %d, stderr %q", answer, code, errs)
		}
	}
	s.stdin = "yes\n"
	code, out, errs := s.run(revoke...)
	if code != exitOK || !strings.Contains(errs, "last key") || !strings.Contains(errs, "has no key left") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, errs)
	}
	if out := s.must("key", "list", "--json"); out != "[]\n" {
		t.Errorf("listed %q", out)
	}
}

func TestKeyRefuses(t *testing.T) {
	s := newShell(t)
	twins := "[" + someOrg + "]\nname = Twin\n[22222222-2222-3333-4444-555555555555]\nname = Twin\n"
	if err := os.WriteFile(s.file, []byte(twins), 0o600); err != nil {
		t.Fatal(err)
	}
	s.refuse(exitFailed, "2 organizations are named \"Twin\"; choose one by its ID: "+someOrg+", 2222", "key", "add",
		"Twin")
	s.refuse(exitFailed, "there is no organization \"Nobody\"", "key", "add", "Nobody")
	s.refuse(exitFailed, "there is no organization 3333", "key", "list", "33333333-2222-3333-4444-555555555555")
	s.refuse(exitFailed, "not a label", "key", "add", someOrg, "--label", "a\nb")
	s.refuse(exitUsage, "it is `holdfast key revoke", "key", "revoke", "Twin")
	s.refuse(exitUsage, "a command is missing", "key")

	if err := os.WriteFile(s.file, []byte(twins+"oops\nname = again\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.refuse(exitFailed, "auth.cfg:5: not a bcrypt hash", "key", "add", someOrg)
	s.refuse(exitFailed, "auth.cfg:6: a second name", "key", "add", someOrg)
}

// The next line of a script can use what a command has added, and nobody can use what one has
// taken away.
func TestKeyIsTakenWhenTheCommandEnds(t *testing.T) {
	s := newShell(t)
	s.data = s.file + ".data"
	s.must("init")
	server := s.start()
	s.environ = append(s.environ, "HOLDFAST_ADDR=http://"+server.address)
	key := strings.TrimSpace(s.must("key", "add", "default", "--name", "ci"))
	s.environ = append(s.environ, "HOLDFAST_KEY="+key)
	s.must("whoami")
	s.must("key", "revoke", "default", "ci", "--yes")
	if code, _, errs := s.run("whoami"); code != exitFailed || !strings.Contains(errs, "credentials_wrong") {
		t.Errorf("exit %d, %s", code, errs)
	}
}
