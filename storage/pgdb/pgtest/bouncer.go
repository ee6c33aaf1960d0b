package pgtest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/storage/serverdb/servertest"
)

// Bouncer runs a pgbouncer before the server of a URL, with settings besides the usual ones, such as
// "pool_mode=session", and returns the URL by way of it. The path is that of scripts/pgbouncer.sh. The pgbouncer ends
// with the test.
func Bouncer(t testing.TB, script, at string, settings ...string) string {
	t.Helper()
	program, err := exec.Command(script).Output()
	if err != nil {
		t.Fatalf("there is no pgbouncer, and none can be fetched: %v", err)
	}
	server, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	port, err := servertest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	by := *server
	by.Host = net.JoinHostPort("127.0.0.1", fmt.Sprint(port))
	usual := []string{"listen_addr=127.0.0.1", fmt.Sprint("listen_port=", port), "unix_socket_dir=", "auth_type=any"}
	if os.Geteuid() == 0 { // it does not run as root
		account, err := user.Lookup("nobody")
		if err != nil {
			t.Fatal(err)
		}
		usual = append(usual, "user="+account.Username)
	}
	dir, err := os.MkdirTemp("", "holdfast-pgbouncer-")
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("[databases]\n* = host=%s port=%s user=%s password=%s\n[pgbouncer]\n%s\n", server.Hostname(),
		server.Port(), server.User.Username(), Password(at), strings.Join(append(usual, settings...), "\n"))
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	process, err := servertest.Start(t.Context(), servertest.Program{Dir: dir, Kill: "KILL",
		Line: []string{strings.TrimSpace(string(program)), file},
		Up:   func(ctx context.Context) error { return Exec(ctx, by.String(), "SELECT 1") }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			t.Errorf("stop pgbouncer: %v", err)
		}
	})
	return by.String()
}
