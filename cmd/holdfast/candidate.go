package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

func newCandidateCommand(a *app) *cobra.Command {
	cmd := newGroup("candidate", "Look at writes that were kept back, and decide on them")
	cmd.Long = `A candidate is a state that is not a version, or not yet: a write that a guard kept back, or
one that somebody brought, such as an errored.tfstate. Promote or discard it.`
	cmd.AddCommand(newCandidateListCommand(a), newCandidateShowCommand(a), newCandidateDiffCommand(a),
		newCandidateAddCommand(a), newCandidatePromoteCommand(a), newCandidateDiscardCommand(a))
	return cmd
}

func newCandidateListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:     "list NAME",
		Short:   "List a state's candidates",
		Long:    "List a state's candidates, the newest first: also those that were decided on.",
		Example: "  holdfast candidate list prod/network\n  holdfast candidate list prod/network --json | jq -r 'select(.status==\"open\") | .id'",
		Args:    ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		return showList(ctx, a, c.Candidates(args[0]), 0, asJSON, a.candidateColumns())
	})
	a.tableFlags(cmd, &asJSON)
	return cmd
}

func (a *app) candidateColumns() []column[api.Candidate] {
	return []column[api.Candidate]{
		{"ID", firm, func(c api.Candidate) string { return c.ID }},
		{"STATUS", always, func(c api.Candidate) string { return c.Status }},
		{"SOURCE", wide, func(c api.Candidate) string { return c.Source }},
		{"ON VERSION", always, func(c api.Candidate) string { return showNumber(c.Base) }},
		{"SERIAL", wide, func(c api.Candidate) string { return showNumber(c.Serial) }},
		{"RESOURCES", wide, func(c api.Candidate) string { return resourcesOf(c.Version) }},
		{"CAME", firm, func(c api.Candidate) string { return a.tableTime(c.CreatedAt) }},
		{"BY", always, func(c api.Candidate) string { return writerOf(c.Version) }},
		{"NOTES", filled, func(c api.Candidate) string { return notesOf(c.Version) }},
	}
}

// findCandidate returns what describes a candidate.
func findCandidate(ctx context.Context, c *client.Client, name, id string) (api.Candidate, error) {
	for one, err := range c.Candidates(name).All(ctx) {
		if err != nil || one.ID == id {
			return one, err
		}
	}
	return api.Candidate{}, fmt.Errorf("%s has no candidate %q; `holdfast candidate list %s` shows them", name, id, name)
}
