package main

import (
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/server"
)

func newServeCommand(a *app) *cobra.Command {
	var makeMissing bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve states and uploads over HTTP",
		Long: `Serve states and uploads over HTTP until SIGINT or SIGTERM, then finish the requests
that have begun and stop. A second signal stops at once.

Settings come from holdfast.cfg, the environment and flags, in this order; the last one
wins. auth.cfg, and the files of certificates, are read again whenever they change.

Without TLS it listens only where this machine alone reaches it, unless trusted_proxies
names who has TLS in front of it, or allow_plaintext is set.

It refuses a data folder without a database that was there, as of a volume that isn't mounted
or half of a backup: empty states are a reason for clients to make everything anew. Put the
database back, or give up what was in it with --make-missing.`,
		Example: `  holdfast serve
  holdfast serve --config /etc/holdfast/holdfast.cfg
  HOST=0.0.0.0 ENABLE_TLS=true TLS_CERT_FILE=tls.crt TLS_KEY_FILE=tls.key holdfast serve
  holdfast serve --state-storage memory --port 0`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := a.servingSettings(cmd)
			if err != nil {
				return err
			}
			log := newLogger(a.stderr, settings.Log)
			server.Tune(cmd.Context(), settings.Server, a.getenv, log)
			return server.Run(cmd.Context(), settings,
				server.Program{Version: version, Shims: true, MakeMissing: makeMissing, Engine: engineClient()}, log)
		},
	}
	addConfigFlag(cmd)
	configs.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&makeMissing, "make-missing", false,
		"make databases anew that the data folder had and that are missing; what was in them is given up")
	return cmd
}
