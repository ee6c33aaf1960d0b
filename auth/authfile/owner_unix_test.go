//go:build unix

package authfile

import (
	"os"
	"syscall"
	"testing"
)

// An edit by root must not take the file away from the account that the server runs as.
func TestEditKeepsOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := writeAuth(t, oneOrg, 0o600)
	must(t, os.Chown(path, 12345, 54321))
	must(t, addFake(t.Context(), path, 1))
	info, err := os.Stat(path)
	must(t, err)
	if s := info.Sys().(*syscall.Stat_t); s.Uid != 12345 || s.Gid != 54321 || info.Mode() != 0o600 {
		t.Errorf("owner %d, group %d, mode %v", s.Uid, s.Gid, info.Mode())
	}
}
