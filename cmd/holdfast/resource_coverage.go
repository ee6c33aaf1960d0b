package main

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
)

// coverageFlags are what the command line of coverage says.
type coverageFlags struct {
	selection
	status, since string
	limit         int
	asJSON        bool
}

func newResourceCoverageCommand(a *app) *cobra.Command {
	var flags coverageFlags
	cmd := a.remote(&cobra.Command{
		Use:   "coverage",
		Short: "Compare what is in states with what was uploaded",
		Long: `Count, or with --status list, the resources that are managed (in a state and uploaded),
unmanaged (uploaded, in no state), missing (in a state, not uploaded), claimed_twice (in two
states) or unmatched (nothing says what to compare them with).`,
		Example: `  holdfast resource coverage
  holdfast resource coverage --status unmanaged --type aws_instance --since 7d`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, c *client, _ []string) error {
		query := flags.values()
		if err := setMoments(query, a.now(), map[string]string{"since": flags.since}); err != nil {
			return err
		}
		if err := checkLimit(flags.limit); err != nil {
			return err
		}
		if flags.status == "" {
			return a.countCoverage(ctx, c, ask{path: "resources/coverage", query: query}, flags.asJSON)
		}
		query.Set("status", flags.status)
		var extent extentFacts
		l := list{path: "resources/coverage", query: query, member: "resources", cursor: "cursor", limit: flags.limit, look: extent.saw}
		columns := append(resourceColumns(), column[resourceFacts]{"SAME AS", resourceFacts.same})
		if err := showList(ctx, a, c, l, flags.asJSON, columns); err != nil {
			return err
		}
		a.tell(extent)
		return nil
	})
	flags.add(cmd)
	cmd.Flags().StringVar(&flags.status, "status", "", "list those that are managed, unmanaged, missing, claimed_twice or unmatched")
	cmd.Flags().StringVar(&flags.since, "since", "", "leave out what was uploaded before: RFC 3339, or how long ago, such as 7d")
	addLimitFlag(cmd, &flags.limit, someLines)
	addLinesFlag(cmd, &flags.asJSON)
	return cmd
}

func (a *app) countCoverage(ctx context.Context, c *client, r ask, asJSON bool) error {
	var answer struct{ Counts map[string]map[string]int64 }
	var extent extentFacts
	raw, err := c.object(ctx, r, &answer)
	if err != nil {
		return err
	}
	if asJSON {
		return showRaw(a.stdout, raw)
	}
	t := a.newTable("SOURCE", "STATUS", "RESOURCES")
	for _, source := range slices.Sorted(maps.Keys(answer.Counts)) {
		for _, status := range slices.Sorted(maps.Keys(answer.Counts[source])) {
			t.add(source, status, strconv.FormatInt(answer.Counts[source][status], 10))
		}
	}
	if err := t.show(); err != nil {
		return err
	}
	if json.Unmarshal(raw, &extent) == nil {
		a.tell(extent)
	}
	return nil
}
