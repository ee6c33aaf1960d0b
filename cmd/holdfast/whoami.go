package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// maxWhoami is far above what a server answers.
const maxWhoami = 1 << 20

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
	body, err := client.get(ctx, "/api/v1/whoami")
	if err != nil {
		return err
	}
	defer body.Close()
	answer, err := io.ReadAll(io.LimitReader(body, maxWhoami))
	if err != nil {
		return err
	}
	var who identity
	if json.Unmarshal(answer, &who) != nil || who.OrgID == "" {
		return errors.New("the answer is not what a Holdfast server sends")
	}
	if asJSON {
		_, err := fmt.Fprintf(a.stdout, "%s\n", answer)
		return err
	}
	return who.show(a.stdout)
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
	Address string
}

func (i identity) show(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	states, expires := "all", "never"
	if i.States != nil {
		states = strings.Join(i.States, ", ")
	}
	if i.Expires != nil {
		expires = *i.Expires
	}
	for _, line := range [][2]string{
		{"organization", named(i.OrgID, i.OrgName)},
		{"key", named(i.KeyID, i.KeyName)},
		{"subject", i.Subject},
		{"role", i.Role},
		{"rights", strings.Join(i.Rights, ", ")},
		{"states", states},
		{"expires", expires},
		{"uploads and data", limit(i.Limits.Requests)},
		{"state requests", limit(i.Limits.States)},
		{"address", i.Address},
	} {
		if line[1] != "" {
			fmt.Fprintf(table, "%s\t%s\n", line[0], printable(line[1]))
		}
	}
	return table.Flush()
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
