package main

import (
	"context"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
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
	}, func(ctx context.Context, c *client, words []string) error {
		query, err := flags.values(words)
		if err != nil {
			return err
		}
		var extent extentFacts
		l := list{path: "resources", query: query, member: "resources", cursor: "cursor", limit: flags.limit, look: extent.saw}
		if err := showList(ctx, a, c, l, flags.asJSON, resourceColumns()); err != nil {
			return err
		}
		a.tell(extent)
		return nil
	})
	flags.add(cmd)
	cmd.Flags().StringVar(&flags.source, "source", "", "state or upload (default: both)")
	cmd.Flags().StringArrayVar(&flags.attributes, "attr", nil, "only with this attribute, as name=value; may be given several times")
	addLimitFlag(cmd, &flags.limit, someLines)
	addLinesFlag(cmd, &flags.asJSON)
	return cmd
}

func (f searchFlags) values(words []string) (url.Values, error) {
	values := f.selection.values()
	if len(words) > 0 {
		values.Set("q", strings.Join(words, " "))
	}
	if f.source != "" {
		values.Set("source", f.source)
	}
	if err := setAttributes(values, f.attributes); err != nil {
		return nil, err
	}
	return values, checkLimit(f.limit)
}
