package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
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
		Args: ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		content, err := c.Get(ctx, args[0], client.Which{Version: number})
		if err != nil {
			return err
		}
		defer content.Close()
		if err := a.fetch(content, output); err != nil {
			return err
		}
		if output != "" {
			fmt.Fprintf(a.stderr, "Wrote version %d of %s to %s.\n", content.Version, args[0], output)
		}
		return nil
	})
	cmd.Flags().Uint64Var(&number, "version", 0, "this version (default: the newest)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write, mode 0600 (default: stdout)")
	return cmd
}
