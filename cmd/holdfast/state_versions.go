package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
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
	cmd.Flags().BoolVar(&flags.copies, "copies", false, "with --purge: in all versions that have the same bytes")
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
	of, query := "version "+number+" of "+name, url.Values{"reason": {reason}}
	if flags.copies {
		of += ", and of all versions that have the same"
		query.Set("copies", "true")
	}
	question := fmt.Sprintf("Destroy the bytes of %s? They can't be brought back.", of)
	if err := a.confirm(ctx, flags.yes, question); err != nil {
		return err
	}
	done := purgeFacts{Purged: []uint64{flags.purge}}
	raw, err := c.object(ctx, ask{method: http.MethodDelete, path: path, query: query}, &done)
	if err != nil {
		return err
	}
	if flags.asJSON {
		return showRaw(a.stdout, raw)
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

// purgeFacts are what the server says of a purge: where the bytes were, and still are.
type purgeFacts struct {
	Purged []uint64 `json:"purged"`
	AlsoIn []uint64 `json:"also_in"`
	More   bool     `json:"more"`
}

// versionList names versions, the oldest first.
func versionList(numbers []uint64) string {
	if len(numbers) == 1 {
		return fmt.Sprint("version ", numbers[0])
	}
	var texts []string
	for _, number := range slices.Backward(numbers) {
		texts = append(texts, strconv.FormatUint(number, 10))
	}
	return "versions " + strings.Join(texts, ", ")
}
