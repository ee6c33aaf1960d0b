package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

func newCandidateShowCommand(a *app) *cobra.Command {
	var output string
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:     "show NAME ID",
		Short:   "Show what describes a candidate, or fetch its bytes",
		Long:    "Show what describes a candidate. With -o, also write its exact bytes to a file, as long as\nit is open.",
		Example: "  holdfast candidate show prod/network 3f9a0c62d1e70b15\n  holdfast candidate show prod/network 3f9a0c62d1e70b15 -o kept.tfstate",
		Args:    cobra.ExactArgs(2),
	}, func(ctx context.Context, c *client, args []string) error {
		found, raw, err := c.findCandidate(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		if output != "" {
			if err := a.fetchCandidate(ctx, c, args[0], found, output); err != nil {
				return err
			}
		}
		if asJSON {
			return showRaw(a.stdout, raw)
		}
		return a.showFacts(found.facts())
	})
	cmd.Flags().StringVarP(&output, "output", "o", "", "file for the exact bytes, mode 0600")
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// facts are those of a version, which a candidate isn't yet.
func (c candidateFacts) facts() [][2]string {
	decided := ""
	if c.Decided != nil {
		decided = showTime(*c.Decided)
	}
	return append([][2]string{
		{"id", c.ID}, {"status", c.Status}, {"decided", decided}, {"source", c.Source}, {"on version", strconv.FormatUint(c.Base, 10)},
	}, c.versionFacts.facts()[1:]...)
}

func (a *app) fetchCandidate(ctx context.Context, c *client, name string, found candidateFacts, output string) error {
	if found.Status != "open" {
		return fmt.Errorf("candidate %s was %s; its bytes are no longer kept", found.ID, printable(found.Status))
	}
	path, err := ofState(name, "candidates", found.ID)
	if err != nil {
		return err
	}
	response, err := c.do(ctx, ask{path: path})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return a.fetch(response, output, found.Digest)
}
