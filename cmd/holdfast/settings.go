package main

import (
	"context"
	"net"
	"net/netip"
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
