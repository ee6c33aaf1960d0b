package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

const maxHealthBody = 64 << 10

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
			return askReady(cmd, a.stdout, localURL(settings.Server)+"/readyz")
		},
	}
	addConfigFlag(cmd)
	return cmd
}

func askReady(cmd *cobra.Command, out io.Writer, url string) error {
	// This machine's own server: its certificate names the outside address, not this one.
	client := &http.Client{Timeout: 4 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	request, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxHealthBody))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s: %s", response.Status, body)
	}
	_, err = fmt.Fprintf(out, "%s\n", body)
	return err
}
