package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
	"github.com/holdfast/holdfast/state"
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
		Use:   "list NAME",
		Short: "List a state's candidates",
		Long:  "List a state's candidates, the newest first: also those that were decided on.",
		Example: "  holdfast candidate list prod/network\n  holdfast candidate list prod/network --json | jq -r " +
			"'select(.status==\"open\") | .id'",
		Args: ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		return a.listCandidates(ctx, c, args[0], asJSON)
	})
	a.tableFlags(cmd, &asJSON)
	return cmd
}

// listCandidates shows a state's candidates, and what to type to decide on the newest open one.
func (a *app) listCandidates(ctx context.Context, c *client.Client, name string, asJSON bool) error {
	list := &watchedCandidates{List: c.Candidates(name)}
	if err := showList(ctx, a, list, 0, asJSON, a.candidateColumns()); err != nil || asJSON || list.open == "" {
		return err
	}
	_, err := fmt.Fprintf(a.stderr, "\nTo decide on it:\n  %s\n",
		strings.Join(audit.CandidateCommands(name, printable.Text(list.open)), "\n  "))
	return err
}

// watchedCandidates notes the first open candidate of a list that is shown.
type watchedCandidates struct {
	*client.List[api.Candidate]
	open string // its ID; empty where there is none
}

func (w *watchedCandidates) All(ctx context.Context) iter.Seq2[api.Candidate, error] {
	return func(yield func(api.Candidate, error) bool) {
		for one, err := range w.List.All(ctx) {
			if w.open == "" && one.Status == string(state.Open) {
				w.open = one.ID
			}
			if !yield(one, err) {
				return
			}
		}
	}
}

func (a *app) candidateColumns() []column[api.Candidate] {
	return []column[api.Candidate]{
		{"ID", firm, func(c api.Candidate) string { return c.ID }},
		{"STATUS", always, func(c api.Candidate) string { return c.Status }},
		{"SOURCE", firm, func(c api.Candidate) string { return c.Source }},
		{"ON VERSION", wide, func(c api.Candidate) string { return showNumber(c.Base) }},
		{"SERIAL", wide, func(c api.Candidate) string { return showNumber(c.Serial) }},
		{"RESOURCES", wide, func(c api.Candidate) string { return resourcesOf(c.Version) }},
		{"CAME", firm, func(c api.Candidate) string { return a.tableTime(c.CreatedAt) }},
		{"BY", always, func(c api.Candidate) string { return writerOf(c.Version) }},
		{"NOTES", filled, func(c api.Candidate) string { return notesOf(c.Version) }},
	}
}

// ofCandidate checks what names a candidate: the name of a state, and an ID.
func ofCandidate(cmd *cobra.Command, args []string) error {
	err := ofState(cobra.ExactArgs(2))(cmd, args)
	if err == nil && !isCandidateID(args[1]) {
		return usagef("%.50q is not a candidate's ID, of 16 hexadecimal digits; `holdfast candidate list %s` shows them",
			args[1], args[0])
	}
	return err
}

func isCandidateID(text string) bool {
	id, err := hex.DecodeString(text)
	return err == nil && len(id) == 8
}

// findCandidate returns what describes a candidate.
func findCandidate(ctx context.Context, c *client.Client, name, id string) (api.Candidate, error) {
	for one, err := range c.Candidates(name).All(ctx) {
		if err != nil || one.ID == id {
			return one, err
		}
	}
	return api.Candidate{}, missingCandidate(name, id)
}
