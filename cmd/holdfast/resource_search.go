package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

// searchFlags are what the command line of search says.
type searchFlags struct {
	selection
	source     string
	attributes []string
	limit      int
	asJSON     bool
}

func newResourceSearchCommand(a *app) *cobra.Command {
	var flags searchFlags
	cmd := a.remote(&cobra.Command{
		Use:   "search [WORD]...",
		Short: "Find resources in all states and uploads",
		Long: `Find the resources that have all of these words in their address, IDs, name or tags, each
from its beginning: which state holds i-0abc?`,
		Example: `  holdfast resource search i-0abc
  holdfast resource search prod vpc --type aws_vpc --source state
  holdfast resource search --attr region=eu-west-1 --json | jq -r .address`,
	}, func(ctx context.Context, c *client.Client, words []string) error {
		query, err := flags.query(words)
		if err != nil {
			return err
		}
		found := c.Resources(query)
		columns := resourceColumns(func(r api.Resource) api.Resource { return r })
		if err := showList(ctx, a, found, flags.limit, flags.asJSON, columns); err != nil {
			return err
		}
		a.tell(found.Extent)
		return nil
	})
	flags.add(cmd)
	cmd.Flags().StringVar(&flags.source, "source", "", "state or upload (default: both)")
	cmd.Flags().StringArrayVar(&flags.attributes, "attr", nil,
		"only with this attribute, as name=value; may be given several times")
	addLimitFlag(cmd, &flags.limit, someLines)
	a.tableFlags(cmd, &flags.asJSON)
	return cmd
}

func (f searchFlags) query(words []string) (client.ResourcesQuery, error) {
	attributes, err := parseAttributes(f.attributes)
	if err == nil {
		err = checkLimit(f.limit)
	}
	return client.ResourcesQuery{
		Words: strings.Join(words, " "), Type: f.kind, Provider: f.provider, State: f.state,
		Source: f.source, Attributes: attributes, Limit: f.limit,
	}, err
}
