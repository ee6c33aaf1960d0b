package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
)

// newHealthCommand is the container's health check: the image has no shell to run
// another client in.
func newHealthCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask the local server whether it is ready",
		Long: `Ask the server that these settings describe whether it is ready to accept writes.
Exits with 0 when it is, with 1 when it isn't or doesn't answer.`,
		Example: `  holdfast health
  PORT=8080 holdfast health`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := a.settings(cmd)
			if err != nil {
				return err
			}
			return askReady(cmd, a.stdout, localURL(settings.Server))
		},
	}
	addConfigFlag(cmd)
	return cmd
}

func askReady(cmd *cobra.Command, out io.Writer, address string) error {
	// This machine's own server: its certificate names the outside address, not this one.
	local := client.New(client.Options{Address: address, Tries: 1,
		HTTP: &http.Client{Timeout: 4 * time.Second, Transport: &http.Transport{
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		}}})
	answer, err := local.Ready(cmd.Context())
	if _, refused := errors.AsType[*client.Error](err); refused {
		return fmt.Errorf("not ready: %w", err)
	}
	if err != nil {
		return err
	}
	return showJSON(out, answer)
}
