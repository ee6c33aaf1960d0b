package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

// driftTrend shows what checks of a layer, or of all for no name, have found day by day.
func (a *app) driftTrend(ctx context.Context, c *client.Client, name string, days int, asJSON bool) (err error) {
	var trend api.DriftTrend
	if name == "" {
		trend, err = c.DriftTrend(ctx, days)
	} else {
		trend, err = c.LayerDriftTrend(ctx, name, days)
	}
	if err != nil {
		return err
	}
	if asJSON {
		return showJSON(a.stdout, trend)
	}
	return a.showTrend(trend, name == "")
}

// showTrend shows the days on which something was checked, the last one first. Of one layer it leaves out how many
// layers there are.
func (a *app) showTrend(trend api.DriftTrend, ofAll bool) error {
	heads := []head{{"DAY", always}, {"CHECKS", always}, {"FOUND DRIFT", always}}
	if ofAll {
		heads = append(heads, head{"LAYERS", always}, head{"DRIFTED", always})
	}
	t := a.newTable(append(heads, head{"RESOURCES", always}, head{"NEW", always}, head{"HEALED", always})...)
	shown := false
	for i := len(trend.Days) - 1; i >= 0; i-- {
		d := trend.Days[i]
		if d.Checks == 0 && d.Healed == 0 {
			continue
		}
		cells := []string{d.Day, strconv.Itoa(d.Checks), strconv.Itoa(d.Found)}
		if ofAll {
			cells = append(cells, strconv.Itoa(d.Layers), strconv.Itoa(d.Drifted))
		}
		t.add(append(cells, strconv.Itoa(d.Resources), strconv.Itoa(d.New), strconv.Itoa(d.Healed))...)
		shown = true
	}
	if !shown {
		_, err := fmt.Fprintf(a.stdout, "Nothing was checked for drift in the last %d days.\n", len(trend.Days))
		return err
	}
	return t.show()
}
