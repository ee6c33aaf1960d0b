package main

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
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
	}, func(ctx context.Context, c *client.Client, _ []string) error {
		since, err := parseMoment("since", flags.since, a.now())
		if err == nil {
			err = checkLimit(flags.limit)
		}
		if err != nil {
			return err
		}
		q := client.CoverageQuery{Type: flags.kind, Provider: flags.provider, State: flags.state, Since: since,
			Limit: flags.limit}
		if flags.status == "" {
			return a.countCoverage(ctx, c, q, flags.asJSON)
		}
		found := c.Covered(flags.status, q)
		columns := resourceColumns(func(r api.CoveredResource) api.Resource { return r.Resource })
		columns = append(columns, column[api.CoveredResource]{"SAME AS", filled, sameAs})
		if err := showList(ctx, a, found, flags.limit, flags.asJSON, columns); err != nil {
			return err
		}
		a.tell(found.Extent)
		return nil
	})
	flags.add(cmd)
	cmd.Flags().StringVar(&flags.status, "status", "",
		"list those that are managed, unmanaged, missing, claimed_twice or unmatched")
	cmd.Flags().StringVar(&flags.since, "since", "",
		"leave out what was uploaded before: RFC 3339, or how long ago, such as 7d")
	addLimitFlag(cmd, &flags.limit, someLines)
	a.tableFlags(cmd, &flags.asJSON)
	return cmd
}

func sameAs(r api.CoveredResource) string {
	var places []string
	for _, place := range r.Same {
		places = append(places, place.String())
	}
	return strings.Join(places, ", ")
}

func (a *app) countCoverage(ctx context.Context, c *client.Client, q client.CoverageQuery, asJSON bool) error {
	answer, err := c.Coverage(ctx, q)
	if err != nil {
		return err
	}
	if asJSON {
		return showJSON(a.stdout, answer)
	}
	t := a.newTable(head{"SOURCE", firm}, head{"STATUS", firm}, head{"RESOURCES", firm})
	for _, source := range slices.Sorted(maps.Keys(answer.Counts)) {
		for _, status := range slices.Sorted(maps.Keys(answer.Counts[source])) {
			t.add(source, status, strconv.FormatInt(answer.Counts[source][status], 10))
		}
	}
	if err := t.show(); err != nil {
		return err
	}
	a.tell(answer.Extent)
	return nil
}
