package statefile

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

func sample(t testing.TB) *File {
	t.Helper()
	f := New()
	f.Resources = append(f.Resources, Resource{Mode: "managed", Type: "a_b", Name: "c", Provider: `provider["x/y/z"]`,
		Instances: []Instance{{IndexKey: 1, Attributes: json.RawMessage(`{"id":"1"}`)},
			{IndexKey: 0, Attributes: json.RawMessage(`{"id":"0"}`)}}})
	return f
}

func TestStateStaysTheSameBytes(t *testing.T) {
	text, err := sample(t).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.Bytes()
	if err != nil || string(again) != string(text) {
		t.Errorf("%v: %s became %s", err, text, again)
	}
}

func TestDamagedStateIsNotAnEmptyOne(t *testing.T) {
	l := NewLocal(filepath.Join(t.TempDir(), "terraform.tfstate"))
	for range 2 {
		if err := NewLocal(l.path).Write(t.Context(), sample(t)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(l.path, []byte(`{"version": 4, `), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := l.Read(t.Context())
	if err == nil || !strings.Contains(err.Error(), l.path+".backup") {
		t.Errorf("%v doesn't name the backup", err)
	}
}

func TestLockIsExclusiveAndShowsItsOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "terraform.tfstate")
	release, err := NewLocal(path).Lock(t.Context(), NewLockInfo("apply"))
	if err != nil {
		t.Fatal(err)
	}
	info := NewLockInfo("plan")
	if _, err := NewLocal(path).Lock(t.Context(), info); err == nil || !strings.Contains(err.Error(), "apply") {
		t.Errorf("the second lock: %v", err)
	}
	if err := release(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + ".lock"); !os.IsNotExist(err) {
		t.Errorf("the lock is still there: %v", err)
	}
}

// write makes a lock file that says so.
func (h held) write(t *testing.T, path string) {
	t.Helper()
	text, err := json.Marshal(h)
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestM4LockOfADeadProcessIsBroken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "terraform.tfstate")
	dead := held{LockInfo: NewLockInfo("apply"), PID: os.Getpid(), Started: "1", place: placeHere()}
	dead.write(t, path+".lock")
	release, err := NewLocal(path).Lock(t.Context(), NewLockInfo("apply"))
	if err != nil {
		t.Fatal(err)
	}
	if err := release(context.Background()); err != nil {
		t.Fatal(err)
	}
	for what, elsewhere := range map[string]place{"machine": {Hostname: "elsewhere"},
		"machine of the same name": {Hostname: dead.Hostname, Boot: "another"},
		"container":                {Hostname: dead.Hostname, Boot: dead.Boot, Numbers: "pid:[1]"}} {
		dead.place = elsewhere
		dead.write(t, path+".lock")
		if _, err := NewLocal(path).Lock(t.Context(), NewLockInfo("apply")); err == nil {
			t.Errorf("a lock of another %s was broken", what)
		}
	}
}

// FuzzParse wants what can be read to be written, and read, as the same.
func FuzzParse(f *testing.F) {
	fuzzseeds.Add(f)
	text, err := sample(f).Bytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"version":4,"lineage":"x","resources":[{"mode":"data","type":"a","name":"b","instances":[{}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		state, err := Parse(text)
		if err != nil {
			return
		}
		once, err := state.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(once)
		if err != nil {
			t.Fatalf("what was written can't be read: %v\n%s", err, once)
		}
		if twice, err := again.Bytes(); err != nil || string(twice) != string(once) {
			t.Errorf("%v: %s became %s", err, once, twice)
		}
	})
}
