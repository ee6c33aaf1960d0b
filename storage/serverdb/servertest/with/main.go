// Command with runs a command that has a database server for its tests: the one that the environment names when it
// answers, else a private one that ends with the command. See scripts/mysql.sh and scripts/postgres.sh.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
	"github.com/holdfast/holdfast/storage/serverdb/servertest"
)

func main() {
	if len(os.Args) < 3 || os.Args[1] != "mysql" && os.Args[1] != "postgres" {
		fmt.Fprintln(os.Stderr, "usage: with mysql|postgres COMMAND [ARGUMENT…]")
		os.Exit(2)
	}
	// The command gets the terminal's interrupt as well, and ends first.
	signal.Ignore(os.Interrupt)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, server string, args []string) (err error) {
	found, err := find(ctx, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, found.Release()) }()
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), found.Environ...)
	return c.Run()
}

// find returns a server that all tests of the command have to have. Without one of PostgreSQL its tests are skipped,
// unless it is required.
func find(ctx context.Context, server string) (found servertest.Found, err error) {
	kind := mysqltest.Kind()
	if server == "mysql" {
		found, err = mysqltest.FindShared(ctx)
	} else {
		kind = pgtest.Kind()
		found, err = pgtest.FindShared(ctx)
		if err != nil && !kind.IsRequired() {
			return servertest.Found{Environ: kind.Without(err), Release: func() error { return nil }}, nil
		}
	}
	found.Environ = append(found.Environ, kind.Required+"=required")
	return found, err
}
