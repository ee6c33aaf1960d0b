package statefile

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/holdfast/holdfast/engine/diag"
)

// What somebody else has written since the state was read isn't overwritten, whether or not its serial says so.
func TestLocalStateOfSomebodyElseIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "terraform.tfstate")
	f := sample(t)
	ours := NewLocal(path)
	if none, err := ours.Read(t.Context()); none != nil || err != nil {
		t.Fatalf("%v %v", none, err)
	}
	if err := NewLocal(path).Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	wantCategory(t, ours.Write(t.Context(), New()), diag.Concurrency)
	if _, err := ours.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what was written here is what is expected
		f.Serial++
		if err := ours.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	edited, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edited = append(edited, '\n')
	if err := os.WriteFile(path, edited, 0o600); err != nil {
		t.Fatal(err)
	}
	f.Serial++
	wantCategory(t, ours.Write(t.Context(), f), diag.Concurrency)
	if kept, err := os.ReadFile(path); err != nil || string(kept) != string(edited) {
		t.Errorf("%s %v", kept, err)
	}
}

// A state behind a link has one lock, and the link stays one.
func TestStateBehindALinkStaysThere(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "kept.tfstate"), filepath.Join(dir, "terraform.tfstate")
	if err := NewLocal(path).Write(t.Context(), sample(t)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	l := NewLocal(link)
	release, err := l.Lock(t.Context(), NewLockInfo("apply"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewLocal(path).Lock(t.Context(), NewLockInfo("apply"))
	wantCategory(t, err, diag.Concurrency)
	if err := l.Write(t.Context(), New()); err != nil {
		t.Fatal(err)
	}
	if f, err := NewLocal(path).Read(t.Context()); err != nil || len(f.Resources) != 0 || !isLink(link) {
		t.Errorf("%+v %v", f, err)
	}
	if err := release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// The backups are found whatever the folder is called.
func TestBackupsAreFoundInAnyFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "net[1]*", "terraform.tfstate")
	for serial := range 10 {
		f := New()
		f.Serial = uint64(serial)
		if err := NewLocal(path).Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if found := NewLocal(path).backups(); len(found) < 5 || len(found) > 6 {
		t.Errorf("%q", found)
	}
}

// A state that would lose something when it is written again can be looked at, and not gone on from.
func TestStateThatWouldLoseSomethingIsNotGoneOnFrom(t *testing.T) {
	resource := func(more, instances string) string {
		return `{"mode":"managed","type":"a_b","name":"c","provider":"p"` + more + `,"instances":[` + instances + `]}`
	}
	for text, want := range map[string]string{
		resource("", `{"attributes":{}}`):                                                "",
		resource("", `{"index_key":0},{"index_key":"0"},{"index_key":0,"deposed":"1"}`):  "",
		resource("", `{"attributes":{},"keep_forever":true}`):                            `"keep_forever"`,
		resource(`,"since":1`, ``):                                                       `"since"`,
		resource("", `{"index_key":0},{"index_key":0}`):                                  "a_b.c[0] twice",
		resource("", `{"index_key":0}`) + "," + resource("", `{"index_key":1}`):          "a_b.c twice",
		resource("", `{"deposed":"1"},{"deposed":"1"}`):                                  "a_b.c twice",
		resource("", `{"provider":"q","skip_destroy":true,"identity_schema_version":1}`): "",
	} {
		f, err := Parse([]byte(`{"version":4,"lineage":"l","resources":[` + text + `]}`))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		switch err := f.Keepable(); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"", "null", "[]", `"x"`, `{}`, `{"version":4}`, `{"version":3,"lineage":"l"}`,
		`{"version":5,"lineage":"l"}`, `{"version":4,"lineage":"l"}}`, `{"version":4,"lineage":"l"} {}`,
		`{"version":4,"lineage":"l","new":1`, `{"version":4,"lineage":"l","new":1}]`} {
		if f, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s is taken for a state: %+v", text, f)
		}
	}
}

// Of many that find the same dead lock at once, one breaks it and holds the lock.
func TestDeadLockIsBrokenForOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "terraform.tfstate")
	dead := held{LockInfo: NewLockInfo("apply"), PID: os.Getpid(), Started: "1", place: placeHere()}
	for range 10 {
		dead.write(t, path+".lock")
		var holders atomic.Int32
		var all sync.WaitGroup
		var release func() error
		for range 8 {
			all.Go(func() {
				done, err := NewLocal(path).Lock(t.Context(), NewLockInfo("apply"))
				if err == nil {
					holders.Add(1)
					release = func() error { return done(t.Context()) }
				}
			})
		}
		all.Wait()
		if n := holders.Load(); n != 1 {
			t.Fatalf("%d hold the lock", n)
		}
		if err := release(); err != nil {
			t.Fatal(err)
		}
	}
}

// A holder whose lock was removed by force writes no heartbeat over the lock of the next one.
func TestHeartbeatLeavesTheLockOfAnotherAlone(t *testing.T) {
	l := NewLocal(filepath.Join(t.TempDir(), "terraform.tfstate"))
	ours, theirs := held{LockInfo: NewLockInfo("apply")}, held{LockInfo: NewLockInfo("apply")}
	theirs.write(t, l.lockPath())
	if l.say(&ours) {
		t.Error("it takes the lock of another for its own")
	}
	if h, err := l.holder(); err != nil || h.ID != theirs.ID {
		t.Errorf("%+v %v", h, err)
	}
}
