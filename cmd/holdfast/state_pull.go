package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"
)

func newStatePullCommand(a *app) *cobra.Command {
	var number uint64
	var output string
	cmd := a.remote(&cobra.Command{
		Use:   "pull NAME",
		Short: "Fetch a state's exact bytes",
		Long: `Write the exact bytes of a state's newest version, or of another, to stdout or a file. A
file gets the mode 0600 and is there whole or not at all.`,
		Example: `  holdfast state pull prod/network | jq .serial
  holdfast state pull prod/network --version 7 -o network-7.tfstate`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client, args []string) error {
		path, err := ofState(args[0])
		if err != nil {
			return err
		}
		query := url.Values{}
		if number > 0 {
			query.Set("version", strconv.FormatUint(number, 10))
		}
		response, err := c.do(ctx, ask{path: path, query: query})
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if err := a.fetch(response, output, etag(response)); err != nil {
			return err
		}
		if output != "" {
			fmt.Fprintf(a.stderr, "Wrote version %s of %s to %s.\n", printable(response.Header.Get("X-Holdfast-Version")), args[0], output)
		}
		return nil
	})
	cmd.Flags().Uint64Var(&number, "version", 0, "this version (default: the newest)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write, mode 0600 (default: stdout)")
	return cmd
}
