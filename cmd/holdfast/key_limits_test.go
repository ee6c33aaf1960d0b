package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/auth/lastuse"
)

func (s *shell) json(into any, args ...string) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.must(append(args, "--json")...)), into); err != nil {
		s.t.Fatal(err)
	}
}

// section returns the text of the file from [….name] on.
func (s *shell) section(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(s.file)
	if err != nil {
		s.t.Fatal(err)
	}
	_, found, _ := strings.Cut(string(text), "."+name+"]\n")
	return found
}

func TestLimitedKeyLife(t *testing.T) {
	s := newShell(t)
	s.must("init", "--org-name", "Acme")
	var made newKey
	s.json(&made, "key", "add", "Acme", "--name", "ci", "--role", "writer", "--states", "prod/*, shared/network",
		"--expires", "90d", "--from", "10.0.0.0/8,2001:db8::1", "--label", "runner")
	limits := keyLimits{KeyName: "ci", Role: "writer", States: []string{"prod/*", "shared/network"},
		Expires: "2027-02-20T00:00:00Z", From: []string{"10.0.0.0/8", "2001:db8::1/128"}}
	if diff := cmp.Diff(limits, made.keyLimits); diff != "" || !s.opens(made.Key) {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	if _, text, _ := strings.Cut(s.section("ci"),
		"\n"); text != "role = writer\nstates = prod/*, shared/network\nexpires = 2027-02-19\nfrom = 10.0.0.0/8, "+
		"2001:db8::1\n" {
		t.Errorf("wrote\n%s", text)
	}

	var turned rotated
	s.json(&turned, "key", "rotate", "Acme", "CI", "--until", "2026-11-28", "--label", "new")
	if diff := cmp.Diff(limits, turned.keyLimits); diff != "" || !s.opens(turned.Key) || !s.opens(made.Key) {
		t.Errorf("rotated (-want +got):\n%s", diff)
	}
	if want := (oldKey{made.KeyID, "ci-until-20261128", "2026-11-29T00:00:00Z"}); turned.Old != want {
		t.Errorf("old %+v, want %+v", turned.Old, want)
	}

	var gone revoked
	s.json(&gone, "key", "revoke", "Acme", "ci-until-20261128", "--yes")
	if want := (revoked{made.Organization, "Acme", made.KeyID, "ci-until-20261128", 2}); gone != want ||
		s.opens(made.Key) {
		t.Errorf("revoked %+v, want %+v", gone, want)
	}
	if out := s.must("key", "revoke", "Acme", turned.KeyID, "--yes"); !strings.HasPrefix(out, "Revoked key ci ("+
		turned.KeyID+")") {
		t.Errorf("printed %q", out)
	}
	if text := s.section("ci"); text != "" {
		t.Errorf("left %q", text)
	}
}

// A rotated key of the organization's own section stays what it was, for a week.
func TestRotateOwnKey(t *testing.T) {
	s := newShell(t)
	s.must("init")
	old := s.doc().Organizations()[0].Keys[0]
	code, out, errs := s.run("key", "rotate", "default", old.ID)
	if code != exitOK || !s.opens(strings.TrimSpace(out)) ||
		!strings.Contains(errs, "in the place of "+old.ID+", which is good through 2026-11-28") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, errs)
	}
	keys := s.doc().Organizations()[0].Keys
	if len(keys) != 2 || keys[0].Name != "" || keys[1].Name != "owner-until-20261128" || keys[1].Hash != old.Hash {
		t.Errorf("keys %+v", keys)
	}
}

func TestKeyAddNamesByRole(t *testing.T) {
	s := newShell(t)
	s.must("init")
	for _, args := range [][]string{{"--role", "reader"}, {"--role", "reader"}, {"--expires", "2027-01-31"}} {
		s.must(append([]string{"key", "add", "default"}, args...)...)
	}
	var names []string
	for _, k := range s.doc().Organizations()[0].Keys {
		names = append(names, k.Name+":"+string(k.Role))
	}
	if got := strings.Join(names, " "); got != ":owner reader:reader reader-2:reader owner:owner" {
		t.Errorf("keys %s", got)
	}
}

func TestKeyListShowsLimitsAndLastUse(t *testing.T) {
	s := newShell(t)
	dir := t.TempDir()
	s.environ = []string{"STORAGE_PATH=" + dir}
	rules := "[" + someOrg + "]\nname = Acme\n" +
		"[" + someOrg + ".ci]\nrole = reader\nstates = prod/*\nexpires = 2026-11-20\nfrom = 10.0.0.0/8\napikey = $2a$10$" +
		strings.Repeat("x", 53) + " ; runner\n" +
		"[" + someOrg + ".oidc.gh]\nrole = writer\nissuer = https://a.example\naudience = a\nclaims.sub = a\n" +
		"[" + someOrg + ".cert.gw]\nrole = uploader\nsan = dns:gw\n"
	if err := os.WriteFile(s.file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	uses := `{"keys":[{"organization":"` + someOrg +
		`","key_id":"oidc.gh","at":"2026-11-21T09:30:00Z","from":"192.0.2.1"}]}`
	if err := os.WriteFile(filepath.Join(dir, lastuse.FileName), []byte(uses), 0o600); err != nil {
		t.Fatal(err)
	}
	id := s.doc().Organizations()[0].Keys[0].ID
	want := "ORGANIZATION                               KEY           NAME  ROLE      STATES  EXPIRES               " +
		"FROM        LAST USED                            LABEL\n" +
		someOrg + " Acme  " + id +
		"  ci    reader    prod/*  2026-11-20 (expired)  10.0.0.0/8  never                                runner\n" +
		someOrg + " Acme  oidc.gh       gh    writer    all     never                 anywhere    2026-11-21T09:30:00Z " +
		"from 192.0.2.1\n" +
		someOrg + " Acme  cert.gw       gw    uploader  all     never                 anywhere    never\n"
	if got := s.must("key", "list", "--wide"); got != want {
		t.Errorf("listed\n%s\nwant\n%s", got, want)
	}
	var rows []keyRow
	s.json(&rows, "key", "list", "Acme")
	if len(rows) != 3 || !rows[0].Expired || rows[0].LastUsed != "never" || rows[1].LastUsed != "2026-11-21T09:30:00Z" ||
		rows[1].LastUsedFrom != "192.0.2.1" {
		t.Errorf("listed %+v", rows)
	}
	s.refuse(exitFailed, "has expired", "key", "rotate", "Acme", "ci")
	s.must("key", "rotate", "Acme", "ci", "--expires", "30d")

	// A damaged file is worth a warning, not the list.
	if err := os.WriteFile(filepath.Join(dir, lastuse.FileName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := s.run("key", "list")
	if code != exitOK || !strings.Contains(out, "unknown") ||
		!strings.Contains(errs, "Warning: when keys were last used is unknown") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, errs)
	}
}

func TestLimitsAreRefused(t *testing.T) {
	s := newShell(t)
	s.must("init")
	s.must("key", "add", "default", "--name", "ci")
	add := func(flags ...string) []string { return append([]string{"key", "add", "default"}, flags...) }
	s.refuse(exitUsage, "--role: not a role: owner, writer,", add("--role", "admin")...)
	s.refuse(exitUsage, "--role: not a role", add("--role", "")...)
	s.refuse(exitUsage, "--name: it looks like a key's ID", add("--name", "0123456789ab")...)
	s.refuse(exitUsage, "--name: 1 to 64 letters", add("--name", "")...)
	s.refuse(exitUsage, "--states: an empty pattern", add("--states", "")...)
	s.refuse(exitUsage, "--states: the role uploader has no right on any state",
		add("--role", "uploader", "--states", "a")...)
	s.refuse(exitUsage, "--expires: that is in the past", add("--expires", "2026-11-20")...)
	s.refuse(exitUsage, "--expires: not a date", add("--expires", "tomorrow")...)
	s.refuse(exitUsage, "--expires: not a number of days", add("--expires", "-1d")...)
	s.refuse(exitUsage, "--expires: not a number of days", add("--expires", "36501d")...)
	s.refuse(exitUsage, "--from: not a list of addresses", add("--from", "localhost")...)
	s.refuse(exitFailed, "already has a key named \"CI\"", add("--name", "CI")...)
	s.refuse(exitUsage, "--until: that is in the past", "key", "rotate", "default", "ci", "--until",
		"2026-11-20T12:00:00Z")
	s.refuse(exitFailed, "has no key \"cd\"", "key", "rotate", "default", "cd")
	s.refuse(exitFailed, "can't expire", "key", "rotate", "default", s.doc().Organizations()[0].Keys[0].ID, "--expires",
		"9d")
}

// A server writes down who used which key, and key list shows it.
func TestServerRemembersLastUse(t *testing.T) {
	s := newShell(t)
	s.must("init")
	var made newKey
	s.json(&made, "key", "add", "default", "--name", "ci", "--role", "reader")
	s.environ = []string{"STORAGE_PATH=" + s.file + ".data"}
	lastUse := func() map[string]string {
		var rows []keyRow
		s.json(&rows, "key", "list")
		return map[string]string{rows[0].KeyName: rows[0].LastUsed, rows[1].KeyName: rows[1].LastUsed + rows[1].LastUsedFrom}
	}
	if got := lastUse(); got["ci"] != "unknown" {
		t.Errorf("before there was a server: %v", got)
	}
	for range 2 {
		r := s.start()
		req, err := http.NewRequest(http.MethodGet, "http://"+r.address+"/api/v1/state/none", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth(made.Organization.String(), made.Key)
		res, err := http.DefaultClient.Do(req)
		if err != nil || res.StatusCode != http.StatusNotFound {
			t.Fatalf("%v, %v", res, err)
		}
		res.Body.Close()
		r.stop()
		if code := r.wait(); code != exitOK {
			t.Fatalf("exit %d\n%s", code, r.log)
		}
		if got := lastUse(); got[""] != "never" || !strings.HasPrefix(got["ci"], "20") ||
			!strings.HasSuffix(got["ci"], "Z127.0.0.1") {
			t.Errorf("last use %v", got)
		}
	}
}
