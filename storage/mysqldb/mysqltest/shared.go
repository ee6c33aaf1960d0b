package mysqltest

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// sharedPort is the port of the shared server of user 0; each user has a port of its own behind it.
const sharedPort = 23306

// StartShared is Start at the same port and with the same password each time: Go records DB_PORT and DB_PASSWORD as
// inputs of a test, and takes no result from its cache when they change. Where the port is taken, the server gets a
// free one.
//
// The server does not wait for the disk: it outlives the tests, which lose nothing of it.
func StartShared(ctx context.Context, args ...string) (*Server, error) {
	args = append(args, "--innodb-flush-log-at-trx-commit=0", "--sync-binlog=0", "--innodb-doublewrite=OFF")
	port := sharedPort + os.Getuid()%10000
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		say("port %d is taken: with another port, results do not come from Go's test cache", port)
		return Start(ctx, args...)
	}
	password, err := sharedPassword()
	if err := errors.Join(err, listener.Close()); err != nil {
		return nil, err
	}
	return start(ctx, port, password, args)
}

// sharedPassword returns the password in the user's cache, which it makes the first time.
func sharedPassword() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	file := filepath.Join(cache, "holdfast", "mysqltest-password")
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
