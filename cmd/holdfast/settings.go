package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/configs"
)

const configFlag = "config"

func addConfigFlag(cmd *cobra.Command) {
	cmd.Flags().String(configFlag, "", "settings file (default holdfast.cfg, if there is one)")
}

// settings loads what the command's flags, the environment and the settings file say.
func (a *app) settings(cmd *cobra.Command) (configs.Settings, error) {
	return configs.Load(a.sources(cmd))
}

func (a *app) sources(cmd *cobra.Command) configs.Sources {
	file, explicit := configs.Locate(cmd.Flags().Lookup(configFlag).Value.String(), a.environ)
	return configs.Sources{File: file, Explicit: explicit, Environ: a.environ, Flags: cmd.Flags()}
}

// storeSettings is settings of a command that works on a server's files. It says in which folder they are, and
// fails where there is no such folder: all commands but these ask the server of HOLDFAST_ADDR, and an empty store
// answers as if all was in order.
func (a *app) storeSettings(cmd *cobra.Command) (configs.Settings, error) {
	settings, err := a.settings(cmd)
	if err != nil {
		return settings, err
	}
	if _, err := os.Stat(settings.Storage.Path); err != nil {
		if !configs.OnServer(settings.State.Storage) {
			return settings, noStore(settings.Storage.Path, err)
		}
		return settings, nil
	}
	a.nameFiles(cmd, settings.Storage.Path)
	return settings, nil
}

// noStore says that a command works on files that aren't here, and how to name others.
func noStore(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("storage.path (STORAGE_PATH) is %s: there is no store; this command works on a server's files, on "+
		"the server's machine, and --%s FILE names its settings", absolute(path), configFlag)
}

// nameFiles says which files a command works on, unless its result is for a program.
func (a *app) nameFiles(cmd *cobra.Command, path string) {
	if asJSON, _ := cmd.Flags().GetBool("json"); !asJSON {
		a.note("In %s:", absolute(path))
	}
}

func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// resolvePatience is how long the look-up of the host to listen on may take.
const resolvePatience = 5 * time.Second

// servingSettings is settings for a command that listens.
func (a *app) servingSettings(cmd *cobra.Command) (configs.Settings, error) {
	sources := a.sources(cmd)
	sources.Resolve = func(host string) ([]netip.Addr, error) {
		ctx, cancel := context.WithTimeout(cmd.Context(), resolvePatience)
		defer cancel()
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}
	return configs.Load(sources)
}

// localURL is where this machine reaches the server: a wildcard address is no
// destination.
func localURL(s configs.Server) string {
	scheme, host := "http", s.Host
	if s.EnableTLS {
		scheme = "https"
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.Is6() {
			host = "::1"
		}
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(s.Port))
}
