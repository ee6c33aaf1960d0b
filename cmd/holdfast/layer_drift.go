package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

// parseSeconds reads a time such as 20m.
func parseSeconds(text string) (int64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%.40q is no time such as 20m or 1h", text)
	}
	return int64(d / time.Second), nil
}

func newLayerDriftCommand(a *app) *cobra.Command {
	var asJSON, trend bool
	var days int
	cmd := a.remote(&cobra.Command{
		Use:   "drift [NAME]",
		Short: "Show what was changed outside",
		Long: `Show what the last check of a layer has found changed outside, or, without a name, what has drifted
in all layers: the same cause once. With --trend it shows what checks have found day by day, in UTC.`,
		Example: "  holdfast layer drift\n  holdfast layer drift prod/network\n  holdfast layer drift --trend --days 7",
		Args:    cobra.MaximumNArgs(1),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		if trend {
			return a.driftTrend(ctx, c, strings.Join(args, ""), days, asJSON)
		}
		if days != 0 {
			return usagef("--days goes with --trend")
		}
		if len(args) == 0 {
			return a.showDrift(ctx, c, asJSON)
		}
		drift, err := c.LayerDrift(ctx, args[0])
		if err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, drift)
		}
		return a.showLayerDrift(drift)
	})
	cmd.Flags().BoolVar(&trend, "trend", false, "show what checks have found day by day")
	cmd.Flags().IntVar(&days, "days", 0, "of how many days, up to 400 (default: 30)")
	a.tableFlags(cmd, &asJSON)
	return cmd
}

func (a *app) showDrift(ctx context.Context, c *client.Client, asJSON bool) error {
	drift, err := c.Drift(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return showJSON(a.stdout, drift)
	}
	t := a.newTable(head{"TYPE", always}, head{"ACTION", always}, head{"ATTRIBUTES", always}, head{"RESOURCES", always},
		head{"LAYERS", always}, head{"SINCE", firm}, head{"SUCH AS", filled})
	for _, cause := range drift.Causes {
		first := ""
		if len(cause.Resources) > 0 {
			first = cause.Resources[0].Layer + " " + cause.Resources[0].Address
		}
		t.add(cause.Type, cause.Action, strings.Join(cause.Attributes, ", "), strconv.Itoa(cause.Count),
			strconv.Itoa(cause.Layers), a.tableTime(cause.Since), first)
	}
	return t.show()
}

func (a *app) showLayerDrift(drift api.LayerDrift) error {
	if len(drift.Resources) == 0 {
		_, err := fmt.Fprintln(a.stdout, "Nothing was changed outside, as far as the last check knows.")
		return err
	}
	t := a.newTable(head{"RESOURCE", always}, head{"ACTION", always}, head{"ATTRIBUTES", always}, head{"SINCE", firm},
		head{"CHECK", wide}, head{"NOTE", filled})
	for _, r := range drift.Resources {
		note := ""
		switch {
		case r.Ignored:
			note = "ignored"
		case r.Expected != "":
			note = "expected"
		}
		for _, c := range r.Claims {
			note = strings.TrimPrefix(note+", also in "+c.Kind+" "+c.Name, ", ")
		}
		t.add(r.Address, r.Action, strings.Join(r.Attributes, ", "), a.tableTime(r.Since), r.Run, note)
	}
	return t.show()
}

func newLayerExpectCommand(a *app) *cobra.Command {
	var what api.DriftExpected
	var lasts string
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "expect NAME ADDRESS",
		Short: "Say that drift is as it should be, for a time",
		Long: `Say that what was changed outside at resources of this address is as it should be: it is no drift
until that expires. A star in the address or the attribute is any text.`,
		Example: "  holdfast layer expect prod/network 'aws_instance.*' --attribute tags.LastScan --owner security\n" +
			"    --reason 'the scanner sets it' --for 2160h",
		Args: ofState(cobra.ExactArgs(2)),
	}, func(ctx context.Context, c *client.Client, args []string) error {
		seconds, err := parseSeconds(lasts)
		if err != nil {
			return fmt.Errorf("--for: %w", err)
		}
		what.Address, what.Expires = args[1], a.now().Add(time.Duration(seconds)*time.Second).UTC()
		drift, err := c.ExpectDrift(ctx, args[0], what)
		if err != nil {
			return err
		}
		if asJSON {
			return showJSON(a.stdout, drift)
		}
		return a.showLayerDrift(drift)
	})
	cmd.Flags().StringVar(&what.Attribute, "attribute", "", "path of the attribute (default: all)")
	cmd.Flags().StringVar(&what.Owner, "owner", "", "who answers for it")
	cmd.Flags().StringVar(&lasts, "for", "720h", "how long it holds")
	addReasonFlag(cmd, &what.Reason)
	addJSONFlag(cmd, &asJSON)
	return cmd
}
