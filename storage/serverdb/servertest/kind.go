// Package servertest runs database servers for tests: a private one, or one that all packages of a command share.
// mysqltest and pgtest say which.
package servertest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Kind is a kind of servers.
type Kind struct {
	Name string // of the package
	// Required is the environment variable that, set to "required", makes tests fail rather than be skipped where no
	// server can be had.
	Required string
	// Port is the port of the shared server of user 0; each user has a port of its own behind it.
	Port int
}

// Found is a server that tests can use.
type Found struct {
	Environ []string     // says where it is
	Release func() error // lets go of it
}

// missing is the variable that tells Need why there is no server.
func (k Kind) missing() string { return k.Required + "_MISSING" }

// IsRequired says whether tests fail where there is no server.
func (k Kind) IsRequired() bool { return os.Getenv(k.Required) == "required" }

// Without has tests skipped, or fail, that need a server. It returns what tells them.
func (k Kind) Without(why error) []string {
	k.Say("%v", why)
	return []string{k.missing() + "=" + why.Error()}
}

// Need skips a test for which there is no server, or has it fail.
func (k Kind) Need(t testing.TB) {
	t.Helper()
	if reason := os.Getenv(k.missing()); reason != "" {
		if k.IsRequired() {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
}

// Say tells people on stderr what is done.
func (k Kind) Say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, k.Name+": "+format+"\n", args...)
}

// Main runs a package's tests with the server that find returns, by m.Run or what else runs them.
func (k Kind) Main(run func() int, find func(context.Context) (Found, error)) int {
	found, err := find(context.Background())
	if err != nil {
		found = Found{k.Without(err), func() error { return nil }}
	}
	for _, entry := range found.Environ {
		name, value, _ := strings.Cut(entry, "=")
		_ = os.Setenv(name, value)
	}
	code := run()
	if err := found.Release(); err != nil {
		k.Say("end the server: %v", err)
		return max(code, 1)
	}
	return code
}

// Shared returns the port and the password of the shared server, which are the same each time: Go records the variables
// that say them as inputs of a test, and takes no result from its cache when they change. Where the port is taken, it
// returns a free one.
func (k Kind) Shared() (port int, password string, err error) {
	port = k.Port + os.Getuid()%10000
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		k.Say("port %d is taken: with another port, results do not come from Go's test cache", port)
		port, err = FreePort()
		return port, rand.Text(), err
	}
	if err := listener.Close(); err != nil {
		return 0, "", err
	}
	password, err = k.password()
	return port, password, err
}

// password returns the one in the user's cache, which it makes the first time.
func (k Kind) password() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	file := filepath.Join(cache, "holdfast", k.Name+"-password")
	text, err := os.ReadFile(file)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return string(text), err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	password := rand.Text()
	return password, os.WriteFile(file, []byte(password), 0o600)
}

// FreePort returns a port that nobody listened on a moment ago.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
