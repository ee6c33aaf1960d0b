package statefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/engine/diag"
)

// Five earlier states are kept beside the file, and the damaged state's error names them, the newest first.
func TestBackupsAreKeptAndNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "terraform.tfstate")
	for serial := range 10 {
		f := New()
		f.Serial = uint64(serial)
		if err := NewLocal(path).Write(t.Context(), f); err != nil { // each as a process of its own
			t.Fatal(err)
		}
		if err := NewLocal(path).Write(t.Context(), f); err != nil { // the same again changes nothing
			t.Fatal(err)
		}
	}
	l := NewLocal(path)
	backups := l.backups()
	if len(backups) < 5 || len(backups) > 6 || backups[0] != path+".backup" {
		t.Fatalf("the backups are %q", backups)
	}
	for i, backup := range backups {
		text, err := os.ReadFile(backup)
		if err != nil {
			t.Fatal(err)
		}
		if f, err := Parse(text); err != nil || f.Serial != uint64(8-i) {
			t.Errorf("%s has serial %d: %v", backup, f.Serial, err)
		}
	}
	if err := os.WriteFile(path, []byte(`{"version": 4,`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := l.Read(t.Context())
	wantCategory(t, err, diag.State)
	if !strings.Contains(err.Error(), path+".backup, "+backups[1]) {
		t.Errorf("it doesn't name the backups: %v", err)
	}
}

func TestWhatCanNotBeReadOrWrittenIsSaid(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := NewLocal(folder).Read(t.Context())
	wantCategory(t, err, diag.State)
	wantCategory(t, NewLocal(folder).Write(t.Context(), New()), diag.State)
	wantCategory(t, NewLocal(filepath.Join(dir, "file", "state")).Write(t.Context(), New()), diag.State)
	_, err = NewLocal(filepath.Join(dir, "none", "state")).Lock(t.Context(), NewLockInfo("apply"))
	wantCategory(t, err, diag.State)
}

// A lock goes only with its own ID, is never taken from who can't be asked, and stays with who took it by force.
func TestLockGoesWithItsOwnID(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	l := NewLocal(path)
	wantCategory(t, l.ForceUnlock(t.Context(), "any"), diag.Concurrency)
	info := NewLockInfo("apply")
	release, err := l.Lock(t.Context(), info)
	if err != nil {
		t.Fatal(err)
	}
	wantCategory(t, l.ForceUnlock(t.Context(), "another"), diag.Concurrency)
	if err := l.ForceUnlock(t.Context(), info.ID); err != nil {
		t.Fatal(err)
	}
	theirs, err := l.Lock(t.Context(), NewLockInfo("destroy"))
	if err != nil {
		t.Fatal(err)
	}
	wantCategory(t, release(t.Context()), diag.Concurrency)
	if err := theirs(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := theirs(t.Context()); err != nil {
		t.Errorf("to release twice: %v", err)
	}

	for _, text := range []string{"damaged", `{"ID": "far", "pid": 1, "hostname": "another machine"}`} {
		if err := os.WriteFile(l.lockPath(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := l.Lock(t.Context(), NewLockInfo("apply"))
		wantCategory(t, err, diag.Concurrency)
		if kept, err := os.ReadFile(l.lockPath()); err != nil || string(kept) != text {
			t.Errorf("the lock became %s: %v", kept, err)
		}
	}
}

// The holder says now and then that it is there, until the lock is another's.
func TestHeartbeatIsWritten(t *testing.T) {
	l := NewLocal(filepath.Join(t.TempDir(), "state"))
	l.beat = time.Millisecond
	seen := make(chan struct{}, 1)
	first := true
	l.now = func() time.Time {
		if !first {
			select {
			case seen <- struct{}{}:
			default:
			}
		}
		first = false
		return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	}
	release, err := l.Lock(t.Context(), NewLockInfo("apply"))
	if err != nil {
		t.Fatal(err)
	}
	<-seen
	if err := release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(l.lockPath()); !os.IsNotExist(err) {
		t.Errorf("the lock is left behind: %v", err)
	}
}
