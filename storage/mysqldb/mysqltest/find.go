package mysqltest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/holdfast/holdfast/storage/serverdb/servertest"
)

// Address is how to reach a server.
type Address struct {
	Host           string // or the path of a Unix socket
	Port           int
	User, Password string
}

// Environ returns the address as the environment has it.
func (a Address) Environ() []string {
	return []string{"DB_HOST=" + a.Host, "DB_PORT=" + strconv.Itoa(a.Port), "DB_USER=" + a.User, "DB_PASSWORD=" +
		a.Password}
}

// FromEnvironment returns the server that the environment names, or the local default. In
// a test that Main runs, it is the one that was found.
func FromEnvironment() Address {
	port, err := strconv.Atoi(os.Getenv("DB_PORT"))
	if err != nil {
		port = 3306
	}
	return Address{
		Host: cmp.Or(os.Getenv("DB_HOST"), "127.0.0.1"), Port: port,
		User: cmp.Or(os.Getenv("DB_USER"), "root"), Password: os.Getenv("DB_PASSWORD"),
	}
}

// Open returns a pool of connections to the database; the empty name stands for none.
func (a Address) Open(name string) (*sql.DB, error) {
	c := driver.NewConfig()
	c.Net, c.Addr = "tcp", net.JoinHostPort(a.Host, strconv.Itoa(a.Port))
	if strings.HasPrefix(a.Host, "/") {
		c.Net, c.Addr = "unix", a.Host
	}
	c.User, c.Passwd, c.DBName = a.User, a.Password, name
	c.Timeout, c.Logger = 2*time.Second, &driver.NopLogger{}
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// Exec runs statements on a connection of their own.
func (a Address) Exec(ctx context.Context, name string, statements ...string) (err error) {
	db, err := a.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%.80s: %w", statement, err)
		}
	}
	return nil
}

// version asks the server, which shows that it is up and lets us in.
func (a Address) version(ctx context.Context) (version string, err error) {
	db, err := a.Open("")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version)
	return version, err
}

// Find returns a server that tests can use, and how to let go of it.
func Find(ctx context.Context) (address Address, release func() error, err error) {
	return find(ctx, Start)
}

// FindShared is Find for a command that runs the tests of many packages. See StartShared.
func FindShared(ctx context.Context) (servertest.Found, error) {
	address, release, err := find(ctx, StartShared)
	return servertest.Found{Environ: address.Environ(), Release: release}, err
}

func find(ctx context.Context, start func(context.Context, ...string) (*Server, error)) (
	address Address, release func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute) // an installation may take long
	defer cancel()
	address = FromEnvironment()
	version, err := address.version(ctx)
	if err == nil {
		say("using the server at %s, %s", address.Host, version)
		return address, func() error { return nil }, nil
	}
	if os.Getenv("DB_HOST") != "" {
		say("the server at DB_HOST can't be used: %v", err)
	}
	server, err := start(ctx)
	if err != nil {
		return Address{}, nil, err
	}
	return server.Address, server.Stop, nil
}

func isRoot() bool {
	current, err := user.Current()
	return err == nil && current.Uid == "0"
}

func say(format string, args ...any) { Kind().Say(format, args...) }
