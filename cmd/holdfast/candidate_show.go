package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

func newCandidateShowCommand(a *app) *cobra.Command {
	var output string
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "show NAME ID",
		Short: "Show what describes a candidate, or fetch its bytes",
		Long:  "Show what describes a candidate. With -o, also write its exact bytes to a file, as long as\nit is open.",
		Example: "  holdfast candidate show prod/network 3f9a0c62d1e70b15\n  holdfast candidate show prod/network " +
			"3f9a0c62d1e70b15 -o kept.tfstate",
		Args: ofCandidate,
	}, func(ctx context.Context, c *client.Client, args []string) error {
		found, err := findCandidate(ctx, c, args[0], args[1])
		if err != nil {
			return err
		}
		if output != "" {
			if err := a.fetchCandidate(ctx, c, args[0], found, output); err != nil {
				return err
			}
		}
		if asJSON {
			return showJSON(a.stdout, found)
		}
		return a.showFacts(candidateFacts(found))
	})
	cmd.Flags().StringVarP(&output, "output", "o", "", "file for the exact bytes, mode 0600")
	addJSONFlag(cmd, &asJSON)
	a.addWideFlag(cmd)
	return cmd
}

// candidateFacts are those of a version, which a candidate isn't yet.
func candidateFacts(c api.Candidate) [][2]string {
	return append([][2]string{
		{"id", c.ID}, {"status", c.Status}, {"decided", showTimeOr(c.Decided)}, {"source", c.Source},
		{"on version", showNumber(c.Base)},
	}, versionFacts(c.Version)[1:]...)
}

func (a *app) fetchCandidate(ctx context.Context, c *client.Client, name string, found api.Candidate,
	output string) error {
	if found.Status != "open" {
		return fmt.Errorf("candidate %s was %s; its bytes are no longer kept", found.ID, printable.Text(found.Status))
	}
	content, err := c.OpenCandidate(ctx, name, found)
	if err != nil {
		return err
	}
	defer content.Close()
	return a.fetch(content, output)
}
