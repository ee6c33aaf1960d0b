package seal_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
)

func TestCreateMasterFile(t *testing.T) {
	path := masterFile(t)
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	text := readFile(t, path)
	if err := seal.CreateMasterFile(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("to create it again: %v", err)
	}
	if readFile(t, path) != text {
		t.Error("the file was overwritten")
	}
	if other := readFile(t, masterFile(t)); other == text {
		t.Error("two files have the same key")
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
}

// Not even a link to nowhere is replaced or followed.
func TestCreateMasterFileFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "master.key")
	must(t, os.Symlink(filepath.Join(dir, "elsewhere"), path))
	if err := seal.CreateMasterFile(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the error is %v", err)
	}
}

func TestOneOfManyCreatesTheMasterFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	var group sync.WaitGroup
	var made atomic.Int64
	for range 20 {
		group.Go(func() {
			switch err := seal.CreateMasterFile(path); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
			if _, err := seal.ReadMasterFile(path); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if made.Load() != 1 {
		t.Errorf("%d made it", made.Load())
	}
}

func TestMasterFileOpenToOthersIsRefused(t *testing.T) {
	path := masterFile(t)
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o620, 0o602, 0o610, 0o644, 0o777} {
		must(t, os.Chmod(path, mode))
		if _, err := seal.ReadMasterFile(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
	must(t, os.Chmod(path, 0o400))
	if _, err := seal.ReadMasterFile(path); err != nil {
		t.Error(err)
	}
}

func TestMasterFileRefuses(t *testing.T) {
	mark := "holdfast-master-key 1\n"
	key := oldKey + " 38fd0c11\n"
	good := mark + key
	flipped := "0" + key[1:]
	if key[0] == '0' {
		flipped = "1" + key[1:]
	}
	for text, want := range map[string]string{
		"":                                 "no key",
		"# nothing\n":                      "no key",
		mark:                               "no key",
		mark + strings.TrimSpace(key):      "cut off",
		mark + key[:40] + "\n":             "hexadecimal digits",
		mark + key[:64] + "\n":             "check digits",
		mark + flipped:                     "check digits",
		mark + key + key:                   "twice",
		mark + key + "more\n":              "line 3",
		"holdfast-master-key 4\n" + key:    "newer version",
		key:                                "no master file",
		strings.ReplaceAll(good, "\n", ""): "cut off",
		mark + key + strings.Repeat("#"+strings.Repeat(" ", 99)+"\n", 170_000): "too large",
	} {
		path := filepath.Join(t.TempDir(), "master.key")
		must(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := seal.ReadMasterFile(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%.60q: %v, want …%s…", text, err, want)
			continue
		}
		for _, secret := range []string{key[:16], key[40:60], flipped[:16]} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%.60q: the error shows the key: %v", text, err)
			}
		}
	}
}

// A new master key takes over: what was sealed opens all along, and after Rewrap the old key
// is not needed.
func TestMasterRotation(t *testing.T) {
	path, keys, org := masterFile(t), &sealtest.Memory{}, uuid.New()
	read := func() *seal.Sealer {
		master, err := seal.ReadMasterFile(path)
		must(t, err)
		return seal.New(master, keys)
	}
	old := read()
	sealed := mustSeal(t, old, org, "log", "a", plainText)
	must(t, old.Rotate(t.Context(), org))
	sum, err := old.Sum(t.Context(), org, "log", []byte("x"))
	must(t, err)
	oldText := readFile(t, path)

	must(t, seal.AddMaster(path))
	both := read()
	mustOpen(t, both, org, "log", "a", sealed, plainText)
	for _, want := range []int{2, 0} {
		if n, err := both.Rewrap(t.Context(), org); err != nil || n != want {
			t.Errorf("rewrapped %d, %v; want %d", n, err, want)
		}
	}
	mustOpen(t, both, org, "log", "a", sealed, plainText)

	_, oldLine, _ := strings.Cut(oldText, "holdfast-master-key 3\n")
	must(t, os.WriteFile(path, []byte(strings.Replace(readFile(t, path), oldLine, "", 1)), 0o600))
	newest := read()
	mustOpen(t, newest, org, "log", "a", sealed, plainText)
	if got, err := newest.Sum(t.Context(), org, "log", []byte("x")); err != nil || got != sum {
		t.Errorf("the sum has changed, %v", err)
	}
	// The old file alone opens nothing any more, and says what it lacks.
	must(t, os.WriteFile(path, []byte(oldText), 0o600))
	_, err = read().Open(t.Context(), org, "log", "a", sealed)
	wantCode(t, err, fault.SealKeyMissing)
}

// Processes that rewrap at once don't get in each other's way.
func TestRewrapAtOnce(t *testing.T) {
	path, keys, org := masterFile(t), &sealtest.Memory{}, uuid.New()
	master, err := seal.ReadMasterFile(path)
	must(t, err)
	sealed := mustSeal(t, seal.New(master, keys), org, "log", "a", plainText)
	must(t, seal.AddMaster(path))
	master, err = seal.ReadMasterFile(path)
	must(t, err)
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			s := seal.New(master, keys)
			if _, err := s.Rewrap(t.Context(), org); err != nil {
				t.Error(err)
			}
			mustOpen(t, s, org, "log", "a", sealed, plainText)
		})
	}
	group.Wait()
}

// FuzzMasterFile: a file that is read is one that can be used, and no error shows a key.
func FuzzMasterFile(f *testing.F) {
	fuzzseeds.Add(f)
	good := readFile(f, masterFile(f))
	f.Add(good)
	f.Add(strings.Replace(good, "key 3", "key 2", 1))
	f.Add("holdfast-master-key 1\n" + oldKey + " 38fd0c11\n")
	f.Add(good[:len(good)-1])
	forgetting := seal.Source{Path: masterFile(f)}
	_, err := forgetting.Forget(f.Context(), uuid.New())
	must(f, err)
	f.Add(readFile(f, forgetting.Path))
	f.Add("holdfast-master-key 1\n" + strings.Repeat("ab", 32) + " 00000000\n")
	path := filepath.Join(f.TempDir(), "master.key")
	f.Fuzz(func(t *testing.T, text string) {
		must(t, os.WriteFile(path, []byte(text), 0o600))
		master, err := seal.ReadMasterFile(path)
		if err != nil {
			for line := range strings.Lines(text) {
				if len(line) > 30 && !strings.HasPrefix(line, "#") && strings.Contains(err.Error(), line[:30]) {
					t.Fatalf("the error quotes a line: %v", err)
				}
			}
			return
		}
		s, org := seal.New(master, &sealtest.Memory{}), uuid.New()
		mustOpen(t, s, org, "log", "a", mustSeal(t, s, org, "log", "a", plainText), plainText)
	})
}
