package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
)

// shell runs commands in the way that main does, on an auth file of its own.
type shell struct {
	t           *testing.T
	file        string
	data        string // the folder of all data, unless environ has another one
	stdin       string
	interactive bool
	environ     []string
	columns     int // of the terminal; 0 for none
}

func newShell(t *testing.T) *shell {
	t.Parallel() // bcrypt and fsync take their time
	return newLoneShell(t)
}

// newLoneShell is for a test that changes what the whole process has.
func newLoneShell(t *testing.T) *shell {
	dir := t.TempDir()
	return &shell{t: t, file: filepath.Join(dir, "auth.cfg"), data: filepath.Join(dir, "data")}
}

func (s *shell) run(args ...string) (code int, stdout, stderr string) {
	s.t.Helper()
	var out, errs bytes.Buffer
	code = run(s.t.Context(), args, s.app(&out, &errs))
	return code, out.String(), errs.String()
}

// app is the world around one command.
func (s *shell) app(stdout, stderr io.Writer) *app {
	return &app{
		stdin: strings.NewReader(s.stdin), stdout: stdout, stderr: stderr, interactive: s.interactive,
		environ: append(slices.Clone(s.environ), "HOLDFAST_AUTH_FILE="+s.file, "STORAGE_PATH="+s.data), columns: s.columns,
		now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
	}
}

// must runs a command that has to succeed, and returns what it printed.
func (s *shell) must(args ...string) string {
	s.t.Helper()
	code, out, errs := s.run(args...)
	if code != exitOK {
		s.t.Fatalf("holdfast %q: exit %d: %s", args, code, errs)
	}
	return out
}

// refuse runs a command that has to fail with this code and a message with want in it,
// and has to leave the file as it was.
func (s *shell) refuse(code int, want string, args ...string) {
	s.t.Helper()
	before, _ := os.ReadFile(s.file)
	got, out, errs := s.run(args...)
	if where, rest, ok := strings.Cut(errs, "\n"); ok && strings.HasPrefix(where, "In /") {
		errs = rest // which files the command works on
	}
	if got != code || !strings.HasPrefix(errs, "holdfast: ") || !strings.Contains(errs, want) {
		s.t.Errorf("holdfast %q: exit %d, stderr %q; want %d, …%s…", args, got, errs, code, want)
	}
	if out != "" {
		s.t.Errorf("holdfast %q printed %q", args, out)
	}
	if after, _ := os.ReadFile(s.file); !bytes.Equal(before, after) {
		s.t.Errorf("holdfast %q changed the file to\n%s", args, after)
	}
}

func (s *shell) doc() *authfile.Document {
	s.t.Helper()
	d, err := authfile.Load(s.file)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// opens reports whether the key is good for the first organization.
func (s *shell) opens(key string) bool {
	s.t.Helper()
	for _, k := range s.doc().Organizations()[0].Keys {
		if bcrypt.CompareHashAndPassword([]byte(k.Hash), []byte(key)) == nil {
			return true
		}
	}
	return false
}

func TestInit(t *testing.T) {
	s := newShell(t)
	out := s.must("init", "--org-name", "Acme", "--address", "https://tf.example.com/holdfast/")
	key := regexp.MustCompile(`hfk_\w+`).FindString(out)
	org := s.doc().Organizations()[0]
	if id, ok := auth.OrgOfKey(key); !ok || id != org.ID || !s.opens(key) {
		t.Errorf("the key doesn't open %s:\n%s", org.ID, out)
	}
	if info, err := os.Stat(s.file); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if org.Name != "Acme" || org.Keys[0].Label != "2026-11-21 first key" {
		t.Errorf("made %+v", org)
	}
	url := `"https://tf.example.com/holdfast/api/v1/state/prod/network"`
	for _, want := range []string{
		"\n        address        = " + url, "\n        lock_address   = " + url, "\n        unlock_address = " + url,
		"\n        username       = \"" + org.ID.String() + "\"", "export TF_HTTP_PASSWORD='" + key + "'",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Count(out, key) != 1 {
		t.Error("the key isn't shown once")
	}
}

func TestInitTwice(t *testing.T) {
	s := newShell(t)
	s.must("init")
	s.refuse(exitFailed, "is there already", "init")
	before := s.doc().String()
	if out := s.must("init", "--if-missing"); !strings.Contains(out, "is there already") || strings.Count(out, "\n") != 1 {
		t.Errorf("printed %q", out)
	}
	if out := s.must("init", "--if-missing", "--json"); !strings.Contains(out, `"created": false`) ||
		strings.Contains(out, "hfk_") {
		t.Errorf("printed %q", out)
	}
	if s.doc().String() != before {
		t.Error("the file was changed")
	}
}

func TestInitPrintsJSON(t *testing.T) {
	s := newShell(t)
	var got map[string]any
	if err := json.Unmarshal([]byte(s.must("init", "--json", "--if-missing")), &got); err != nil {
		t.Fatal(err)
	}
	org := s.doc().Organizations()[0]
	if got["auth_file"] != s.file || got["created"] != true || got["organization"] != org.ID.String() ||
		got["key_id"] != org.Keys[0].ID || !s.opens(got["key"].(string)) ||
		!strings.HasPrefix(got["backend"].(string), "terraform {") {
		t.Errorf("printed %v", got)
	}
}

func TestInitRefuses(t *testing.T) {
	s := newShell(t)
	for _, c := range [][]string{
		{"--address: not a URL", "--address", "127.0.0.1:7777"},
		{"--address: not a URL such as", "--address", "ftp://example.com"},
		{"--address: only scheme, host", "--address", "http://user:secret@example.com"},
		{"--address: only scheme, host", "--address", "http://example.com/${x}"},
		{"--org-name: a name can't contain ; or #", "--org-name", "a;b"},
		{"--org-name: it is empty", "--org-name", ""},
		{"unknown flag: --nonsense", "--nonsense"},
		{"unknown command", "extra"},
	} {
		s.refuse(exitUsage, c[0], append([]string{"init"}, c[1:]...)...)
	}
	s.file = filepath.Join(t.TempDir(), "no", "such", "folder", "auth.cfg")
	s.refuse(exitFailed, "no such file or directory", "init")
}

func TestAuthFileIsTheSettings(t *testing.T) {
	s := newShell(t)
	dir := t.TempDir()
	settings, file := filepath.Join(dir, "holdfast.cfg"), filepath.Join(dir, "from-settings.cfg")
	if err := os.WriteFile(settings, []byte("[auth]\nfile = "+file+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flag := filepath.Join(dir, "from-flag.cfg")
	s.must("init", "--auth-file", flag)
	if _, err := os.Stat(flag); err != nil {
		t.Error(err)
	}
	s.must("init", "--config", settings) // the environment comes first
	if _, err := os.Stat(s.file); err != nil {
		t.Error(err)
	}
	s.file = ""
	s.must("init", "--config", settings)
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// A key that nobody saw must not go unnoticed.
func TestKeyThatCantBeShown(t *testing.T) {
	s := newShell(t)
	s.must("init")
	var errs bytes.Buffer
	a := &app{stdout: brokenPipe{}, stderr: &errs, now: time.Now}
	org := s.doc().Organizations()[0].ID.String()
	if code := run(t.Context(), []string{"key", "add", org, "--auth-file", s.file}, a); code != exitFailed {
		t.Errorf("exit %d", code)
	}
	added := s.doc().Organizations()[0].Keys[1].ID
	if want := "holdfast key revoke " + org + " " + added; !strings.Contains(errs.String(), want) {
		t.Errorf("stderr %q, want …%s…", errs.String(), want)
	}
}
