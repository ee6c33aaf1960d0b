package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
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
		Args: cobra.RangeArgs(1, 2),
	}, func(ctx context.Context, c *client, args []string) error {
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
	return cmd
}

// outputFacts are an output.
type outputFacts struct {
	Value, Type json.RawMessage
	Sensitive   bool
}

func (a *app) outputs(ctx context.Context, c *client, name string, flags outputsFlags) error {
	path, err := ofState(name, "outputs")
	if err != nil {
		return err
	}
	query := url.Values{}
	if flags.sensitive {
		query.Set("sensitive", "true")
	}
	var answer struct{ Outputs map[string]outputFacts }
	raw, err := c.object(ctx, ask{path: path, query: query}, &answer)
	if err != nil {
		return err
	}
	if flags.asJSON {
		return showRaw(a.stdout, raw)
	}
	t := a.newTable("NAME", "TYPE", "VALUE")
	for _, key := range slices.Sorted(maps.Keys(answer.Outputs)) {
		o := answer.Outputs[key]
		t.add(key, strings.Trim(compacted(o.Type), `"`), compacted(o.Value))
	}
	return t.show()
}

func (a *app) output(ctx context.Context, c *client, name, key string, flags outputsFlags) error {
	path, err := ofState(name, "outputs", key)
	if err != nil {
		return err
	}
	query := url.Values{}
	if flags.raw {
		query.Set("raw", "true")
	}
	response, err := c.do(ctx, ask{path: path, query: query})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return cutOff(err)
	}
	switch {
	case flags.raw:
		_, err = a.stdout.Write(body)
		return err
	case flags.asJSON:
		return showRaw(a.stdout, bytes.TrimSpace(body))
	}
	var o outputFacts
	if json.Unmarshal(body, &o) != nil {
		return errNotOurs
	}
	return showRaw(a.stdout, o.Value)
}
