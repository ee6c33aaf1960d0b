package mysqltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// denyServices is what Debian's packages ask before they start their service.
const denyServices = "/usr/sbin/policy-rc.d"

// Program is the environment variable that names the server's program, where it is to be another one
// than the machine's.
const Program = "HOLDFAST_MYSQLD"

// binary returns the server's program; it installs one where that is possible.
func binary(ctx context.Context) (string, error) {
	if path := os.Getenv(Program); path != "" {
		return path, nil
	}
	if path, ok := lookUp("mariadbd", "mysqld"); ok {
		return path, nil
	}
	if _, ok := lookUp("apt-get"); !ok || !isRoot() {
		return "", errors.New("there is no MySQL-protocol server: install mariadb-server, or set DB_HOST, DB_PORT, DB_USER " +
			"and DB_PASSWORD")
	}
	if err := install(ctx); err != nil {
		return "", fmt.Errorf("install mariadb-server: %w", err)
	}
	if path, ok := lookUp("mariadbd", "mysqld"); ok {
		return path, nil
	}
	return "", errors.New("mariadb-server was installed and has no mariadbd")
}

// lookUp finds a program, also where an ordinary user's PATH does not lead.
func lookUp(names ...string) (string, bool) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
		for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/usr/libexec"} {
			if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return path, true
			}
		}
	}
	return "", false
}

// install gets MariaDB from the distribution, and keeps it from starting its service.
func install(ctx context.Context) (err error) {
	say("installing mariadb-server with apt-get")
	allow, err := keepServicesOff()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, allow()) }()
	get := func() error { return aptGet(ctx, "install", "--yes", "--no-install-recommends", "mariadb-server") }
	if get() == nil {
		return nil
	}
	if err := aptGet(ctx, "update"); err != nil {
		return err
	}
	return get()
}

func keepServicesOff() (undo func() error, err error) {
	f, err := os.OpenFile(denyServices, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if errors.Is(err, os.ErrExist) {
		return func() error { return nil }, nil // somebody's own policy
	}
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString("#!/bin/sh\nexit 101\n")
	undo = func() error { return os.Remove(denyServices) }
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, undo())
	}
	return undo, nil
}

func aptGet(ctx context.Context, args ...string) error {
	c := exec.CommandContext(ctx, "apt-get", append([]string{"-qq"}, args...)...)
	c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := c.CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("apt-get %s: %w: %s", args[0], err, lines[len(lines)-1])
	}
	return nil
}
