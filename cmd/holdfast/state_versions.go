package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"
)

// someLines is how much of a long history is shown without --limit.
const someLines = 50

// versionsFlags are what the command line of versions says.
type versionsFlags struct {
	limit       int
	asJSON, yes bool
	purge       uint64
	reason      string
}

func newStateVersionsCommand(a *app) *cobra.Command {
	var flags versionsFlags
	cmd := a.remote(&cobra.Command{
		Use:   "versions NAME",
		Short: "List a state's versions, or destroy one",
		Long: `List a state's versions, the newest first, also of a deleted state.

--purge destroys the bytes of one version for good, such as one with a password that must
not be kept. It needs a key of the role owner, and a reason. What describes the version
stays in the list. It asks first on a terminal; elsewhere it needs --yes.`,
		Example: `  holdfast state versions prod/network
  holdfast state versions prod/network --limit 0 --json | jq .serial
  holdfast state versions prod/network --purge 7 --reason "password in an output"`,
		Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, c *client, args []string) error {
		if err := checkLimit(flags.limit); err != nil {
			return err
		}
		if flags.purge > 0 {
			return a.purge(ctx, c, args[0], flags)
		}
		path, err := ofState(args[0], "versions")
		if err != nil {
			return err
		}
		return showList(ctx, a, c, list{path: path, member: "versions", cursor: "before", limit: flags.limit}, flags.asJSON, versionColumns())
	})
	cmd.Flags().Uint64Var(&flags.purge, "purge", 0, "destroy the bytes of this version")
	addReasonFlag(cmd, &flags.reason)
	addYesFlag(cmd, &flags.yes)
	addLimitFlag(cmd, &flags.limit, someLines)
	addLinesFlag(cmd, &flags.asJSON)
	return cmd
}

func versionColumns() []column[versionFacts] {
	return []column[versionFacts]{
		{"VERSION", func(v versionFacts) string { return strconv.FormatUint(v.Number, 10) }},
		{"SERIAL", func(v versionFacts) string { return strconv.FormatUint(v.Serial, 10) }},
		{"RESOURCES", versionFacts.resources},
		{"SIZE", func(v versionFacts) string { return showSize(v.Size) }},
		{"CREATED", func(v versionFacts) string { return showTime(v.CreatedAt) }},
		{"BY", versionFacts.by},
		{"OPERATION", func(v versionFacts) string { return v.Operation }},
		{"NOTES", versionFacts.notes},
	}
}

func (a *app) purge(ctx context.Context, c *client, name string, flags versionsFlags) error {
	number := strconv.FormatUint(flags.purge, 10)
	path, err := ofState(name, "versions", number)
	if err != nil {
		return err
	}
	reason, err := a.reason(ctx, flags.reason)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("Destroy the bytes of version %s of %s? They can't be brought back.", number, name)
	if err := a.confirm(ctx, flags.yes, question); err != nil {
		return err
	}
	raw, err := c.object(ctx, ask{method: http.MethodDelete, path: path, query: url.Values{"reason": {reason}}}, nil)
	if err != nil {
		return err
	}
	if flags.asJSON {
		return showRaw(a.stdout, raw)
	}
	_, err = fmt.Fprintf(a.stdout, "Destroyed the bytes of version %s of %s.\n", number, name)
	return err
}
