package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"filippo.io/age"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage/backup"
	"github.com/holdfast/holdfast/storage/sqlite"
)

// identity makes an age identity, and returns its file and its recipient.
func (s *shell) identity() (file, recipient string) {
	who, err := age.GenerateX25519Identity()
	if err != nil {
		s.t.Fatal(err)
	}
	return s.write("identity.txt", who.String()), who.Recipient().String()
}

// TestBackupCommand: of a server that runs, into a file and into a bucket, and back; nothing secret can be read
// in any of it, and no temporary file is left.
func TestBackupCommand(t *testing.T) {
	s := newShell(t)
	s.must("init", "--org-name", "Acme")
	s.beside()
	s.start("STORAGE_TYPE=csv")
	identity, recipient := s.identity()
	dir := t.TempDir()
	one := filepath.Join(dir, "one.hfb")
	for _, wrong := range [][]string{
		{"backup", "--recipient", recipient}, {"backup", "-o", one}, {"backup", "-o", one, "--recipient", "age1x"},
		{"backup", "-o", one, "--recipient", recipient, "--unencrypted"}, {"backup", "-o", "s3://only", "--unencrypted"},
		{"backup", "-o", "-", "--unencrypted", "--json"}, {"restore", one}, {"backup", "verify"},
	} {
		if code, _, errs := s.run(wrong...); code != exitUsage {
			t.Errorf("%q: exit %d, %s", wrong, code, errs)
		}
	}
	s.must("backup", "-o", one, "--recipient", recipient)
	s.must("backup", "verify", one, "--identity", identity)
	s.must("backup", "-o", filepath.Join(dir, "two.hfb"), "--since", one, "--recipient", recipient)
	s.must("backup", "-o", filepath.Join(dir, "open.hfb"), "--unencrypted")
	s.fails("is not encrypted", "restore", filepath.Join(dir, "open.hfb"), "--to", filepath.Join(dir, "restored"),
		"--identity", identity)
	s.must("restore", one, filepath.Join(dir, "two.hfb"), "--to", filepath.Join(dir, "restored"), "--identity", identity)
	s.wantSame(filepath.Join(dir, "restored", "auth.cfg"), s.file)
	if _, err := os.Stat(filepath.Join(dir, "restored", "master.key")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the master key is in it: %v", err)
	}
	s.must("backup", "-o", filepath.Join(dir, "all.hfb"), "--with-master-key", "--recipient", recipient)
	s.must("restore", filepath.Join(dir, "all.hfb"), "--to", filepath.Join(dir, "all"), "--identity", identity)
	s.wantSame(filepath.Join(dir, "all", "master.key"), filepath.Join(s.data, "master.key"))

	b := newBucket(t, "backups", http.MethodPut, http.MethodPost, http.MethodDelete)
	s.setenv("AWS_ACCESS_KEY_ID", "AKID")
	s.setenv("AWS_SECRET_ACCESS_KEY", "hush")
	s.setenv("AWS_REGION", "eu-west-1")
	s.must("backup", "-o", "s3://backups/day/one.hfb", "--recipient", recipient, "--endpoint", b.url)
	away := filepath.Join(dir, "away.index")
	s.must("backup", "-o", "s3://backups/day/two.hfb", "--recipient", recipient, "--endpoint", b.url, "--index", away)
	s.must("backup", "verify", "s3://backups/day/two.hfb", "--index", away, "--identity", identity, "--endpoint", b.url)
	s.fails("its index was written with", "backup", "verify", "s3://backups/day/one.hfb", "--index", away, "--identity",
		identity, "--endpoint", b.url)
	s.must("restore", "s3://backups/day/one.hfb", "--to", filepath.Join(dir, "s3"), "--identity", identity, "--endpoint",
		b.url)
	s.wantSame(filepath.Join(dir, "s3", "auth.cfg"), s.file)

	code, out, _ := s.run("backup", "-o", "-", "--recipient", recipient)
	if code != exitOK {
		t.Fatalf("to stdout: exit %d", code)
	}
	s.stdin = out
	s.must("restore", "-", "--to", filepath.Join(dir, "stdin"), "--identity", identity)
	secret, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	if name := []byte("Acme"); bytes.Contains([]byte(out), name) || !bytes.Contains(secret, name) {
		t.Error("what is in auth.cfg can be read in the backup")
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	s.must("doctor")
	if out := s.must("doctor", "--json"); !strings.Contains(out, `"findings":[]`) {
		t.Errorf("the doctor says %s", out)
	}
}

func (s *shell) wantSame(a, b string) {
	s.t.Helper()
	one, err := os.ReadFile(a)
	if err != nil {
		s.t.Fatal(err)
	}
	if other, err := os.ReadFile(b); err != nil || !bytes.Equal(one, other) {
		s.t.Errorf("%s is not %s: %v", a, b, err)
	}
}

// TestBackupKeepsOthersAway: a folder that something else holds, and that does not answer, is not read.
func TestBackupKeepsOthersAway(t *testing.T) {
	s := newShell(t)
	s.must("init", "--org-name", "Acme")
	s.beside()
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "one.hfb")
	s.fails("has no database", "backup", "-o", file, "--unencrypted")
	s.fails("has no database", "doctor")
	s.served()
	release, err := sqlite.Hold(s.data)
	if err != nil {
		t.Fatal(err)
	}
	s.fails("is in use", "backup", "-o", file, "--unencrypted")
	if err := release(); err != nil {
		t.Fatal(err)
	}
	s.must("backup", "-o", file, "--unencrypted")
	s.must("backup", "verify", file)
	s.setenv("STATE_STORAGE", "memory")
	s.fails("there is nothing to back up", "backup", "-o", file, "--unencrypted")
}

// served has a server run until it listens, which makes what it keeps.
func (s *shell) served(settings ...string) {
	s.t.Helper()
	r := s.start(settings...)
	r.stop()
	if code := r.wait(); code != exitOK {
		s.t.Fatalf("the server ended with code %d:\n%s", code, r.log)
	}
}

// TestBackupMissesNothing: neither a backup nor the doctor passes over what should be there.
func TestBackupMissesNothing(t *testing.T) {
	s := newShell(t)
	s.must("init", "--org-name", "Acme")
	s.beside()
	s.served("STORAGE_TYPE=csv")
	file := filepath.Join(t.TempDir(), "one.hfb")
	for _, missing := range []string{filepath.Join(s.data, "master.key"), s.file, filepath.Join(s.data, "state.db")} {
		if err := os.Rename(missing, missing+".away"); err != nil {
			t.Fatal(err)
		}
		s.fails(filepath.Base(missing), "backup", "-o", file, "--with-master-key", "--unencrypted")
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("there is a backup without %s: %v", missing, err)
		}
		if filepath.Base(missing) != "master.key" { // nothing is encrypted with it yet
			if code, out, _ := s.run("doctor"); code != exitFailed || !strings.Contains(out, filepath.Base(missing)) {
				t.Errorf("without %s, the doctor says with exit %d: %s", missing, code, out)
			}
		}
		if err := os.Rename(missing+".away", missing); err != nil {
			t.Fatal(err)
		}
	}
	s.must("doctor")
	s.must("backup", "-o", file, "--with-master-key", "--unencrypted")
}

// TestBackupOverwritesNothing: what is there is left alone, and above all what the new one would be the changes of.
func TestBackupOverwritesNothing(t *testing.T) {
	s := newShell(t)
	s.must("init", "--org-name", "Acme")
	s.beside()
	s.start("STORAGE_TYPE=csv")
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.hfb"), filepath.Join(dir, "two.hfb")
	s.must("backup", "-o", one, "--unencrypted")
	text, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	s.fails("is there already", "backup", "-o", one, "--unencrypted")
	for _, since := range []string{one, one + ".index"} {
		if code, _, errs := s.run("backup", "-o", one, "--since", since, "--unencrypted", "--overwrite"); code != exitUsage {
			t.Errorf("over what --since names: exit %d: %s", code, errs)
		}
	}
	if now, err := os.ReadFile(one); err != nil || !bytes.Equal(now, text) {
		t.Errorf("it was changed: %v", err)
	}
	s.must("backup", "-o", two, "--since", one, "--unencrypted")
	s.must("backup", "-o", two, "--since", one, "--unencrypted", "--overwrite")
	s.must("backup", "verify", one, two)
	// One file of an index may go along.
	last := filepath.Join(dir, "last.index")
	s.must("backup", "-o", filepath.Join(dir, "a.hfb"), "--index", last, "--unencrypted")
	s.must("backup", "-o", filepath.Join(dir, "b.hfb"), "--since", last, "--index", last, "--unencrypted")
	s.must("backup", "-o", filepath.Join(dir, "c.hfb"), "--since", last, "--index", last, "--unencrypted")
	s.must("backup", "verify", filepath.Join(dir, "a.hfb"), filepath.Join(dir, "b.hfb"), filepath.Join(dir, "c.hfb"))

	b := newBucket(t, "backups", http.MethodPut, http.MethodPost, http.MethodDelete, http.MethodHead)
	s.setenv("AWS_ACCESS_KEY_ID", "AKID")
	s.setenv("AWS_SECRET_ACCESS_KEY", "hush")
	s.setenv("AWS_REGION", "eu-west-1")
	s.must("backup", "-o", "s3://backups/one", "--unencrypted", "--endpoint", b.url)
	s.fails("is there already", "backup", "-o", "s3://backups/one", "--unencrypted", "--endpoint", b.url)
	s.must("backup", "-o", "s3://backups/one", "--unencrypted", "--endpoint", b.url, "--overwrite")
}

// atEnd does something when all of it was read.
type atEnd struct {
	io.Reader
	do func()
}

func (r atEnd) Read(into []byte) (int, error) {
	n, err := r.Reader.Read(into)
	if err == io.EOF {
		r.do()
	}
	return n, err
}

// TestBackupLeavesNoOtherIndex: whenever a backup ends, the index beside an archive is that of this archive.
func TestBackupLeavesNoOtherIndex(t *testing.T) {
	for _, overwrite := range []bool{false, true} {
		s := newLoneShell(t)
		a := s.app(io.Discard, io.Discard)
		one := filepath.Join(t.TempDir(), "one.hfb")
		inTheWay := func() { // its place is taken just before the archive gets there
			if err := os.MkdirAll(filepath.Join(one, "full"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		moment := &backup.Moment{Files: []backup.File{{Name: "x", Size: 1, Content: atEnd{iotest.DataErrReader(
			strings.NewReader("x")), inTheWay}}}}
		flags := backupFlags{output: one, index: s.write("one.index", "of another one"), overwrite: overwrite}
		if _, err := a.writeBackup(t.Context(), flags, moment, backup.Options{}); err == nil {
			t.Error("it was written over what was in the way")
		}
		if _, err := os.Stat(flags.index); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("overwrite %v: the index of the one before is there: %v", overwrite, err)
		}
		if left, err := filepath.Glob(filepath.Join(filepath.Dir(one), ".*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// TestBackupLetsServersStart: while a backup of a server that was down is read, a server starts, and what it writes
// is not in the backup.
func TestBackupLetsServersStart(t *testing.T) {
	s := newShell(t)
	s.must("init", "--org-name", "Acme")
	s.beside()
	s.served("STORAGE_TYPE=csv")
	a := s.app(io.Discard, io.Discard)
	settings, err := configs.Load(configs.Sources{Environ: a.environ})
	if err != nil {
		t.Fatal(err)
	}
	moment, err := a.fixMoment(t.Context(), settings, func(*backup.Folder) {})
	if err != nil {
		t.Fatal(err)
	}
	s.served("STORAGE_TYPE=csv")
	for _, f := range moment.Files {
		if n, err := io.Copy(io.Discard, f.Content); err != nil || n != f.Size {
			t.Errorf("%s: read %d bytes of %d: %v", f.Name, n, f.Size, err)
		}
	}
	if err := moment.Close(); err != nil {
		t.Fatal(err)
	}
	s.served("STORAGE_TYPE=csv")
	s.must("doctor")
}
