//go:build unix

package server

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// TestListenPrivately makes a folder of the server's own, also where one was open to others, and
// refuses one that leads elsewhere.
func TestListenPrivately(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "operator")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	l, _, err := listenPrivately(filepath.Join(own, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if info, err := os.Stat(own); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
	dialed, err := net.Dial("unix", filepath.Join(own, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer dialed.Close()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	elsewhere, link, file := t.TempDir(), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := os.Chmod(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{link, file} {
		if _, _, err := listenPrivately(filepath.Join(bad, "socket")); err == nil {
			t.Errorf("it listens in %s", bad)
		}
	}
	if info, err := os.Stat(elsewhere); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the folder behind the link is %v, %v", info.Mode(), err)
	}
	if os.Geteuid() != 0 {
		return
	}
	foreign := filepath.Join(dir, "foreign")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(foreign, 12345, 12345); err != nil {
		t.Skip(err)
	}
	if _, _, err := listenPrivately(filepath.Join(foreign, "socket")); err == nil {
		t.Error("it listens in a folder of another user")
	}
}
