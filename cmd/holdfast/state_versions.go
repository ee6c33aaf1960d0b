package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

// someLines is how much of a long history is shown without --limit.
const someLines = 50

// versionsFlags are what the command line of versions says.
type versionsFlags struct {
	limit       int
	asJSON, yes bool
	purge       uint64
	copies      bool
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
stays in the list, and the state takes the same bytes no more. It says which other versions
have the very same bytes; --copies destroys those too. It asks first on a terminal;
elsewhere it needs --yes.`,
		Example: `  holdfast state versions prod/network
  holdfast state versions prod/network --limit 0 --json | jq .serial
  holdfast state versions prod/network --purge 7 --reason "password in an output"`,
		Args: ofState(cobra.ExactArgs(1)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		if err := checkLimit(flags.limit); err != nil {
			return err
		}
		if flags.purge > 0 {
			return a.purge(ctx, c, args[0], flags)
		}
		return showList(ctx, a, c.Versions(args[0], flags.limit), flags.limit, flags.asJSON, a.versionColumns())
	})
	cmd.Flags().Uint64Var(&flags.purge, "purge", 0, "destroy the bytes of this version")
	cmd.Flags().BoolVar(&flags.copies, "copies", false, "with --purge: in all versions that have the same bytes")
	addReasonFlag(cmd, &flags.reason)
	addYesFlag(cmd, &flags.yes)
	addLimitFlag(cmd, &flags.limit, someLines)
	a.tableFlags(cmd, &flags.asJSON)
	return cmd
}

func (a *app) versionColumns() []column[api.Version] {
	return []column[api.Version]{
		{"VERSION", firm, func(v api.Version) string { return showNumber(v.Number) }},
		{"SERIAL", firm, func(v api.Version) string { return showNumber(v.Serial) }},
		{"RESOURCES", wide, resourcesOf},
		{"SIZE", wide, func(v api.Version) string { return showSize(v.Size) }},
		{"CREATED", firm, func(v api.Version) string { return a.tableTime(v.CreatedAt) }},
		{"BY", always, writerOf},
		{"OPERATION", always, func(v api.Version) string { return v.Operation }},
		{"NOTES", filled, notesOf},
	}
}

func (a *app) purge(ctx context.Context, c *client.Client, name string, flags versionsFlags) error {
	reason, err := a.reason(ctx, flags.reason)
	if err != nil {
		return err
	}
	of := fmt.Sprintf("version %d of %s", flags.purge, name)
	if flags.copies {
		of += ", and of all versions that have the same"
	}
	question := fmt.Sprintf("Destroy the bytes of %s? They can't be brought back.", of)
	if err := a.confirm(ctx, flags.yes, question); err != nil {
		return err
	}
	done, err := c.Purge(ctx, name, flags.purge, reason, flags.copies)
	if err != nil {
		return err
	}
	if flags.asJSON {
		return showJSON(a.stdout, done)
	}
	if len(done.Purged) == 0 {
		done.Purged = []uint64{flags.purge} // which goes without saying
	}
	fmt.Fprintf(a.stdout, "Destroyed the bytes of %s of %s.\n", versionList(done.Purged), name)
	if len(done.AlsoIn) > 0 {
		fmt.Fprintf(a.stdout, "The same bytes are still in %s: --copies destroys them too.\n", versionList(done.AlsoIn))
	}
	if done.More {
		fmt.Fprintln(a.stdout, "There are more versions than are named here: ask again.")
	}
	return nil
}

// versionList names versions, the oldest first.
func versionList(numbers []uint64) string {
	if len(numbers) == 1 {
		return fmt.Sprint("version ", numbers[0])
	}
	var texts []string
	for _, number := range slices.Backward(numbers) {
		texts = append(texts, showNumber(number))
	}
	return "versions " + strings.Join(texts, ", ")
}
