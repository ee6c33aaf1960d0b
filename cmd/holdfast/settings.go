package main

import (
	"net"
	"net/netip"
	"strconv"

	"github.com/holdfast/holdfast/configs"
	"github.com/spf13/cobra"
)

const configFlag = "config"

func addConfigFlag(cmd *cobra.Command) {
	cmd.Flags().String(configFlag, "", "settings file (default holdfast.cfg, if there is one)")
}

// settings loads what the command's flags, the environment and the settings file say.
func (a *app) settings(cmd *cobra.Command) (configs.Settings, error) {
	file, explicit := configs.Locate(cmd.Flags().Lookup(configFlag).Value.String(), a.environ)
	return configs.Load(configs.Sources{File: file, Explicit: explicit, Environ: a.environ, Flags: cmd.Flags()})
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
