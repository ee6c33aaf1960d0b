package authfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/durable"
)

const oneOrg = "[11111111-2222-3333-4444-555555555555]\nname = Acme\n"

func writeAuth(t *testing.T, text string, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "auth.cfg")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func addFake(ctx context.Context, path string, n int) error {
	return Edit(ctx, path, func(d *Document) error {
		_, err := d.AddKey(orgA, fakeHash(n), "")
		return err
	})
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestEditKeepsModeAndLink(t *testing.T) {
	for _, mode := range []fs.FileMode{0o400, 0o600, 0o640} {
		path := writeAuth(t, oneOrg, mode)
		link := filepath.Join(t.TempDir(), "link.cfg")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		if err := addFake(t.Context(), link, 1); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(path)
		if err != nil || info.Mode() != mode {
			t.Errorf("mode %v, error %v; want %v", info.Mode(), err, mode)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
			t.Errorf("the link became %v, %v", info.Mode(), err)
		}
		if d, err := Load(path); err != nil || len(d.Organizations()[0].Keys) != 1 {
			t.Errorf("the edit is lost: %v", err)
		}
		if got := names(t, filepath.Dir(path)); got != "auth.cfg auth.cfg.lock" {
			t.Errorf("left in the folder: %s", got)
		}
	}
}

func TestEditSurvivesWhatACrashLeft(t *testing.T) {
	path := writeAuth(t, oneOrg, 0o600)
	left := filepath.Join(filepath.Dir(path), ".auth.cfg.new")
	if err := os.WriteFile(left, []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := addFake(t.Context(), path, 1); err != nil {
		t.Fatal(err)
	}
	if got := names(t, filepath.Dir(path)); got != "auth.cfg auth.cfg.lock" {
		t.Errorf("left in the folder: %s", got)
	}
}

func TestFailedEditChangesNothing(t *testing.T) {
	bad := errors.New("no")
	for _, c := range []struct {
		name, text, want string
		change           func(*Document) error
	}{
		{"the change fails", oneOrg, "no", func(d *Document) error { return errors.Join(d.AddOrganization(orgB, "B"), bad) }},
		{"a refused file", oneOrg + "secret\nx = y\n", ":3: not a bcrypt hash", func(*Document) error { return nil }},
		{"all its faults", oneOrg + "secret\nx = y\n", ":4: an unknown setting", func(*Document) error { return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := writeAuth(t, c.text, 0o600)
			if err := Edit(t.Context(), path, c.change); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want …%s…", err, c.want)
			}
			if text, _ := os.ReadFile(path); string(text) != c.text {
				t.Errorf("the file became %q", text)
			}
		})
	}
	missing := filepath.Join(t.TempDir(), "auth.cfg")
	if err := addFake(t.Context(), missing, 1); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "holdfast init") {
		t.Errorf("a missing file: %v", err)
	}
}

func TestEditGivesUpWaiting(t *testing.T) {
	path := writeAuth(t, oneOrg, 0o600)
	lock := flock.New(path + ".lock")
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := addFake(ctx, path, 1)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "another command is editing") {
		t.Errorf("error %v", err)
	}
}

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth.cfg")
	first := func(d *Document) error { return d.AddOrganization(orgA, "Acme") }
	if err := Create(t.Context(), path, first); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if text, _ := os.ReadFile(path); string(text) != oneOrg {
		t.Errorf("made %q", text)
	}
	if err := Create(t.Context(), path, first); !errors.Is(err, fs.ErrExist) {
		t.Errorf("again: %v", err)
	}
	if err := durable.Create(path, "x"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("somebody else was faster: %v", err)
	}
	dangling := filepath.Join(t.TempDir(), "auth.cfg")
	if err := os.Symlink("nowhere", dangling); err != nil {
		t.Fatal(err)
	}
	if err := Create(t.Context(), dangling, first); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a link to nothing: %v", err)
	}
	if got := names(t, filepath.Dir(path)); got != "auth.cfg auth.cfg.lock" {
		t.Errorf("left in the folder: %s", got)
	}
}

// TestConcurrentCreates: of several at once exactly one makes the file.
func TestConcurrentCreates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth.cfg")
	var made, existed int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			err := Create(context.Background(), path, func(d *Document) error { return d.AddOrganization(uuid.New(), "A") })
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				made++
			case errors.Is(err, fs.ErrExist):
				existed++
			}
		})
	}
	if all.Wait(); made != 1 || existed != 7 {
		t.Errorf("%d made it, %d found it", made, existed)
	}
}

// TestConcurrentEdits has processes and goroutines edit one file, and loses nothing.
func TestConcurrentEdits(t *testing.T) {
	const processes, each = 4, 10
	path := os.Getenv("HOLDFAST_TEST_EDIT")
	if path != "" {
		editMany(t, path, os.Getpid()*each, each)
		return
	}
	path = writeAuth(t, oneOrg, 0o600)
	var all sync.WaitGroup
	for range processes {
		all.Go(func() {
			c := exec.Command(os.Args[0], "-test.run=^TestConcurrentEdits$")
			c.Env = append(os.Environ(), "HOLDFAST_TEST_EDIT="+path)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	for i := range processes {
		all.Go(func() { editMany(t, path, 1_000_000_000+i*each, each) })
	}
	all.Wait()
	d, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(d.Organizations()[0].Keys); got != 2*processes*each {
		t.Errorf("%d keys, want %d", got, 2*processes*each)
	}
}

func editMany(t *testing.T, path string, from, n int) {
	for i := range n {
		// The lock isn't fair: on a slow disk the default patience might not do.
		err := addFake(context.Background(), path, from+i)
		for errors.Is(err, context.DeadlineExceeded) {
			err = addFake(context.Background(), path, from+i)
		}
		if err != nil {
			t.Errorf("edit %d: %v", i, err)
		}
	}
}

func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	path := writeAuth(t, "", 0o600)
	if err := os.Truncate(path, maxFileSize+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("a huge file: %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func ExampleParse() {
	_, err := Parse("auth.cfg", "[acme]\napikey = opensesame\n")
	fmt.Println(err)
	// Output:
	// auth.cfg:1: a section's name is an organization's UUID, such as [11111111-2222-3333-4444-555555555555]
	// auth.cfg:2: not a bcrypt hash; only a key's hash may stand here: `holdfast key add` makes a key and stores its hash
}
