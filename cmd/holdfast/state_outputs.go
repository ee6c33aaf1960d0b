package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
)

// outputsFlags are what the command line of outputs says.
type outputsFlags struct{ raw, sensitive, asJSON bool }

func newStateOutputsCommand(a *app) *cobra.Command {
	var flags outputsFlags
	cmd := a.remote(&cobra.Command{
		Use:   "outputs NAME [OUTPUT]",
		Short: "Show a state's outputs",
		Long: `Show the outputs of a state's newest version, or the value of one of them. A key of the
role outputs can do this, and can't read anything else of the state. In the list, sensitive
values are masked without --sensitive.`,
		Example: `  holdfast state outputs prod/network
  holdfast state outputs prod/network vpc_id --raw
  holdfast state outputs prod/network --json | jq .outputs.subnets.value`,
		Args: ofState(cobra.RangeArgs(1, 2)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		switch {
		case flags.raw && (len(args) < 2 || flags.asJSON):
			return usagef("--raw is for one output, and not with --json")
		case len(args) < 2:
			return a.outputs(ctx, c, args[0], flags)
		}
		return a.output(ctx, c, args[0], args[1], flags)
	})
	cmd.Flags().BoolVar(&flags.raw, "raw", false, "a string's bare text, without quotation marks and newline")
	cmd.Flags().BoolVar(&flags.sensitive, "sensitive", false, "show sensitive values; that is recorded")
	addJSONFlag(cmd, &flags.asJSON)
	a.addWideFlag(cmd)
	return cmd
}

func (a *app) outputs(ctx context.Context, c *client.Client, name string, flags outputsFlags) error {
	answer, err := c.Outputs(ctx, name, flags.sensitive)
	if err != nil {
		return err
	}
	if flags.asJSON {
		return a.showOutputs(answer)
	}
	t := a.newTable(head{"NAME", always}, head{"TYPE", always}, head{"VALUE", always})
	for _, key := range slices.Sorted(maps.Keys(answer.Outputs)) {
		o := answer.Outputs[key]
		t.add(key, strings.Trim(compacted(o.Type), `"`), compacted(o.Value))
	}
	return t.show()
}

func (a *app) output(ctx context.Context, c *client.Client, name, key string, flags outputsFlags) error {
	if flags.raw {
		text, err := c.OutputText(ctx, name, key)
		if err == nil {
			_, err = a.stdout.Write(text)
		}
		return err
	}
	o, err := c.Output(ctx, name, key)
	if err != nil {
		return err
	}
	if flags.asJSON {
		return a.showOutputs(o)
	}
	_, err = fmt.Fprintf(a.stdout, "%s\n", o.Value)
	return err
}

// showOutputs is showJSON with values as they stand in the state: nothing is escaped for HTML.
func (a *app) showOutputs(answer any) error {
	e := json.NewEncoder(a.stdout)
	e.SetEscapeHTML(false)
	return e.Encode(answer)
}
