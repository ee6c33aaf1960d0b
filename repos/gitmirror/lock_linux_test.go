package gitmirror

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A mirror whose lock another process holds is waited for: one that is being started holds for a moment all that this
// one had open.
func TestLockIsWaitedFor(t *testing.T) {
	m, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.OpenFile(m.lock(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	if err := unix.Flock(int(other.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		release, err := m.acquire(t.Context())
		if err == nil {
			release()
		}
		done <- err
	}()
	for len(m.one) == 0 { // it has its turn in this process
		runtime.Gosched()
	}
	if err := unix.Flock(int(other.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
