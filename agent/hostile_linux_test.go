package agent

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
)

// lockStage is a plan's stage whose init has left a lock file.
func lockStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{folder: t.TempDir(), assignment: api.Assignment{Kind: "apply", Stage: "plan", Directory: "prod"},
		record: &record{}}
	if err := os.MkdirAll(s.directory(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.lockPath(), []byte("provider"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.seeLock(); err != nil {
		t.Fatal(err)
	}
	if err := s.sameLock(); err != nil {
		t.Fatalf("the same: %v", err)
	}
	return s
}

// Vulnerability: the executor reads what a plan has left, and the server's own is the server itself.
// Scenario: a plan puts something else in the place of its lock file: a device without an end, a pipe that nobody
// writes to, far more than memory, a link to a secret.
// Check: the lock file is refused, and nothing of that is read.
func TestLockFileThatIsNone(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("provider"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(path string) error{
		"a device":          func(path string) error { return os.Symlink("/dev/zero", path) },
		"a pipe":            func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link to a file":  func(path string) error { return os.Symlink(secret, path) },
		"a link out of it":  func(path string) error { return os.Symlink("../../../../etc/passwd", path) },
		"a folder":          func(path string) error { return os.Mkdir(path, 0o700) },
		"far too much":      func(path string) error { return tooMuch(path) },
		"behind a link":     func(path string) error { return behindALink(path, secret) },
		"a pipe and a link": func(path string) error { return pipeAndLink(path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := lockStage(t)
			if err := os.Remove(s.lockPath()); err != nil {
				t.Fatal(err)
			}
			if err := put(s.lockPath()); err != nil {
				t.Fatal(err)
			}
			refused := make(chan error, 2)
			go func() {
				refused <- s.sameLock()
				_, err := s.initOf()
				refused <- err
			}()
			for _, what := range []string{"the plan's end", "the apply's begin"} {
				select {
				case err := <-refused:
					if err == nil {
						t.Errorf("%s: it is taken", what)
					}
				case <-time.After(2 * time.Second):
					t.Fatalf("%s: it is read still", what)
				}
			}
		})
	}
}

func tooMuch(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(64 << 30)
}

func behindALink(path, secret string) error {
	there := filepath.Join(filepath.Dir(secret), lockFile)
	if err := os.WriteFile(there, []byte("provider"), 0o600); err != nil {
		return err
	}
	if err := os.Remove(filepath.Dir(path)); err != nil {
		return err
	}
	return os.Symlink(filepath.Dir(there), filepath.Dir(path))
}

func pipeAndLink(path string) error {
	if err := syscall.Mkfifo(path+".pipe", 0o600); err != nil {
		return err
	}
	return os.Symlink(filepath.Base(path)+".pipe", path)
}
