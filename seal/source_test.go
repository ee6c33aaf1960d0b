package seal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
)

// keeper wraps by writing down, and fails when it is told to.
type keeper struct {
	name string
	kept map[string][]byte
	fail error
}

func newKeeper(name string) *keeper { return &keeper{name: name, kept: map[string][]byte{}} }

func (k *keeper) Name() string { return k.name }

func (k *keeper) Wrap(_ context.Context, key []byte) (string, error) {
	if k.fail != nil {
		return "", k.fail
	}
	as := uuid.NewString()
	k.kept[as] = append([]byte(nil), key...)
	return "v1:" + as, nil
}

func (k *keeper) Unwrap(_ context.Context, wrapped string) ([]byte, error) {
	return k.kept[strings.TrimPrefix(wrapped, "v1:")], k.fail
}

func (k *keeper) Rewrap(ctx context.Context, wrapped string) (string, error) {
	key, _ := k.Unwrap(ctx, wrapped)
	return k.Wrap(ctx, key)
}

// forgetful is a keeper that answers as one does that has lost what it says, or never had it.
type forgetful struct{ *keeper }

func (forgetful) Wrap(context.Context, []byte) (string, error)   { return "v1:nothing", nil }
func (forgetful) Rewrap(context.Context, string) (string, error) { return "v1:nothing", nil }

// TestWrappedKeysCanBeUnwrapped: what a keeper can't unwrap takes the place of no key, and makes no file.
func TestWrappedKeysCanBeUnwrapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	good := newKeeper("transit")
	bad := seal.Source{Path: path, Keeper: forgetful{good}}
	if err := bad.Create(t.Context()); err == nil {
		t.Error("a key is made that nobody can unwrap")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
	kept := seal.Source{Path: path, Keeper: good}
	must(t, kept.Create(t.Context()))
	before, err := kept.Read(t.Context())
	must(t, err)
	for what, change := range map[string]func(context.Context) error{"renew": bad.Renew, "add": bad.Add} {
		if err := change(t.Context()); err == nil {
			t.Errorf("%s: it is done", what)
		}
	}
	after, err := kept.Read(t.Context())
	must(t, err)
	if !sameKeys(before, after) {
		t.Error("the keys are others")
	}
}

// sameKeys reports whether one's newest key is among the other's.
func sameKeys(one, other *seal.Master) bool { return other.IsMark(one.Mark("test"), "test") }

// TestKeptMasterFile has a file whose keys were in the clear, and are wrapped by a keeper from then on.
func TestKeptMasterFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	plain, kept := seal.Source{Path: path}, seal.Source{Path: path, Keeper: newKeeper("transit")}
	clear := oldKey
	must(t, os.WriteFile(path, []byte("holdfast-master-key 1\n"+oldKey+" 38fd0c11\n"), 0o600))
	first, err := kept.Read(t.Context())
	must(t, err)
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, []byte(strings.Replace(string(text), clear, "# the first\n"+clear, 1)), 0o600))
	must(t, kept.Add(t.Context()))
	text, err = os.ReadFile(path)
	must(t, err)
	if strings.Contains(string(text), clear) || strings.Count(string(text), "\ntransit:v1:") != 2 ||
		!strings.Contains(string(text), "# the first\ntransit:") ||
		!strings.Contains(string(text), "holdfast-master-key 3\n") {
		t.Fatalf("the file is\n%s", text)
	}
	both, err := kept.Read(t.Context())
	must(t, err)
	if sameKeys(both, first) || !sameKeys(first, both) {
		t.Error("the newest key is the old one, or that is gone")
	}
	must(t, kept.Renew(t.Context()))
	again, err := kept.Read(t.Context())
	must(t, err)
	if now, _ := os.ReadFile(path); !sameKeys(both, again) || !sameKeys(first, again) || string(now) == string(text) {
		t.Error("it is not the same keys wrapped anew")
	}
	for what, wrong := range map[string]seal.Source{
		"no keeper": plain, "another keeper": {Path: path, Keeper: newKeeper("aws")},
		"one that has lost it": {Path: path, Keeper: newKeeper("transit")}} {
		if _, err := wrong.Read(t.Context()); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", what, err)
		}
	}
	was, _ := os.ReadFile(path)
	kept.Keeper.(*keeper).fail = errors.New("sealed")
	if err := kept.Add(t.Context()); err == nil {
		t.Error("a key was added that nobody has wrapped")
	}
	if now, _ := os.ReadFile(path); string(now) != string(was) {
		t.Error("the file was changed all the same")
	}
}

// TestMasterKeysInText: the environment has them.
func TestMasterKeysInText(t *testing.T) {
	one, two := strings.Repeat("1f", 32), strings.Repeat("2e", 32)
	master, err := seal.Source{Text: one + "," + two}.Read(t.Context())
	must(t, err)
	second, err := seal.Source{Text: two}.Read(t.Context())
	must(t, err)
	if sameKeys(master, second) || !sameKeys(second, master) {
		t.Error("the first is not the newest, or the second is not there")
	}
	path := filepath.Join(t.TempDir(), "master.key")
	must(t, seal.CreateMasterFile(path))
	text, err := os.ReadFile(path)
	must(t, err)
	file, err := seal.ReadMasterFile(path)
	must(t, err)
	same, err := seal.Source{Text: strings.TrimSpace(string(text))}.Read(t.Context())
	if err != nil || !sameKeys(same, file) {
		t.Errorf("what a file has is not accepted: %v", err)
	}
	for _, bad := range []string{",", one[:62], one + "," + one, one + " " + two[:60] + "zz00"} {
		if _, err := (seal.Source{Text: bad}).Read(t.Context()); err == nil || strings.Contains(err.Error(), one[:16]) {
			t.Errorf("%.70q: %v", bad, err)
		}
	}
	from := seal.Source{Text: one}
	if err := from.Add(t.Context()); !errors.Is(err, seal.ErrNoFile) {
		t.Error(err)
	}
	if err := from.Create(t.Context()); !errors.Is(err, seal.ErrNoFile) {
		t.Error(err)
	}
	must(t, from.Renew(t.Context()))
}
