package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
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
		Args:    cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client, args []string) error {
		path, err := ofState(args[0], "candidates")
		if err != nil {
			return err
		}
		return showList(ctx, a, c, list{path: path, member: "candidates", cursor: "cursor"}, asJSON, candidateColumns())
	})
	addLinesFlag(cmd, &asJSON)
	return cmd
}

func candidateColumns() []column[candidateFacts] {
	return []column[candidateFacts]{
		{"ID", func(c candidateFacts) string { return c.ID }},
		{"STATUS", func(c candidateFacts) string { return c.Status }},
		{"SOURCE", func(c candidateFacts) string { return c.Source }},
		{"ON VERSION", func(c candidateFacts) string { return strconv.FormatUint(c.Base, 10) }},
		{"SERIAL", func(c candidateFacts) string { return strconv.FormatUint(c.Serial, 10) }},
		{"RESOURCES", func(c candidateFacts) string { return c.resources() }},
		{"CAME", func(c candidateFacts) string { return showTime(c.CreatedAt) }},
		{"BY", func(c candidateFacts) string { return c.by() }},
		{"NOTES", func(c candidateFacts) string { return c.notes() }},
	}
}

// findCandidate returns what describes a candidate, and that as the server sent it.
func (c *client) findCandidate(ctx context.Context, name, id string) (found candidateFacts, raw json.RawMessage, err error) {
	path, err := ofState(name, "candidates")
	if err != nil {
		return found, nil, err
	}
	_, err = c.each(ctx, list{path: path, member: "candidates", cursor: "cursor"}, func(element json.RawMessage) error {
		one, err := readFacts[candidateFacts](element)
		if one.ID == id {
			found, raw = one, element
		}
		return err
	})
	if err == nil && raw == nil {
		err = fmt.Errorf("%s has no candidate %q; `holdfast candidate list %s` shows them", name, id, name)
	}
	return found, raw, err
}
