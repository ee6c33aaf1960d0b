package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newWhoamiCommand(a *app) *cobra.Command {
	var flags clientFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Show whom a key stands for, and what it may do",
		Long: `Ask a server whom the key in use stands for, what it may do, until when, and from which
address the server sees the request come.

` + clientHelp,
		Example: `  holdfast whoami
  holdfast whoami --json | jq -r .role
  holdfast whoami --addr https://holdfast.example.com --credentials ~/.holdfast`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.whoami(cmd.Context(), flags, asJSON) },
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the server's answer")
	return cmd
}

func (a *app) whoami(ctx context.Context, flags clientFlags, asJSON bool) error {
	client, err := a.client(flags)
	if err != nil {
		return err
	}
	var who identity
	answer, err := client.object(ctx, ask{path: "whoami"}, &who)
	if err != nil {
		return err
	}
	if who.OrgID == "" {
		return errNotOurs
	}
	if asJSON {
		return showRaw(a.stdout, answer)
	}
	return a.showIdentity(who)
}

// identity is what the server says of a caller.
type identity struct {
	OrgID   string `json:"org_id"`
	OrgName string `json:"org_name"`
	KeyID   string `json:"key_id"`
	KeyName string `json:"key_name"`
	Subject string
	Role    string
	Rights  []string
	States  []string
	Expires *string
	Limits  struct {
		Requests *int `json:"rate_limit"`
		States   *int `json:"state_rate_limit"`
	}
	Quota *struct {
		Used  uint64
		Limit *uint64
	}
	Address string
}

func (a *app) showIdentity(i identity) error {
	states, expires := "all", "never"
	if i.States != nil {
		states = strings.Join(i.States, ", ")
	}
	if i.Expires != nil {
		expires = *i.Expires
	}
	return a.showFacts([][2]string{
		{"organization", named(i.OrgID, i.OrgName)},
		{"key", named(i.KeyID, i.KeyName)},
		{"subject", i.Subject},
		{"role", i.Role},
		{"rights", strings.Join(i.Rights, ", ")},
		{"states", states},
		{"expires", expires},
		{"uploads and data", limit(i.Limits.Requests)},
		{"state requests", limit(i.Limits.States)},
		{"stored", stored(i)},
		{"address", i.Address},
	})
}

// stored is empty for a server that says nothing of it.
func stored(i identity) string {
	switch {
	case i.Quota == nil:
		return ""
	case i.Quota.Limit == nil:
		return showSize(i.Quota.Used)
	}
	return showSize(i.Quota.Used) + " of " + showSize(*i.Quota.Limit)
}

func named(id, name string) string {
	if name == "" {
		return id
	}
	return id + " (" + name + ")"
}

func limit(perMinute *int) string {
	if perMinute == nil {
		return "not limited"
	}
	return fmt.Sprintf("%d a minute", *perMinute)
}
