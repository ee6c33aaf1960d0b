package cost_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/cost"
	"github.com/holdfast/holdfast/insight/facts"
	"github.com/holdfast/holdfast/insight/insighttest"
)

const header = "type,region,when,component,quantity,unit,price,source,date\n"

type object = map[string]any

func costs(t *testing.T, sheet *cost.Sheet, resources ...insighttest.Resource) api.InsightCosts {
	t.Helper()
	plan, err := facts.ReadBytes(insighttest.JSON(resources...), facts.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	all, _ := sheet.Of(plan)
	return all
}

// TestCosts: each component has to have a price, or else the resource has none; what is deleted
// costs nothing any more.
func TestCosts(t *testing.T) {
	sheet, err := cost.Read(strings.NewReader(header +
		"acme_box,north,size=big,box,1,hour,1,Acme,2026-02-01\n" +
		"acme_box,north,,disk,disk.size?10*2,month,0.5,Acme,2026-01-01\n" +
		"acme_box,*,size=tiny,box,1,month,3,Acme,2026-03-01\n" +
		"acme_role,*,,all,1,free,0,free of charge,2026-01-01\n"))
	if err != nil {
		t.Fatal(err)
	}
	big := object{"size": "big", "region": "north", "disk": []any{object{"size": 20}}}
	got := costs(t, sheet,
		insighttest.Resource{Address: "acme_box.new", After: big},
		insighttest.Resource{Address: "acme_box.gone", Actions: []string{"delete"}, Before: object{"size": "tiny"}},
		insighttest.Resource{Address: "acme_box.south", After: object{"size": "big", "region": "south"}},
		insighttest.Resource{Address: "acme_box.odd", After: object{"size": "odd", "region": "north"}},
		insighttest.Resource{Address: "acme_role.x", After: object{}},
		insighttest.Resource{Address: "other_thing.x", After: object{}})
	want := api.InsightCosts{AIEstimated: []api.InsightAICost{}, TotalMonthly: "$750.00", DeltaMonthly: "+$737.00",
		PricesDate: "2026-01-01", Unpriced: []string{"acme_box.south", "acme_box.odd", "other_thing.x"},
		Estimated: []api.InsightCost{
			{Resource: "acme_box.new", MonthlyCost: "$750.00", Delta: "+$750.00", Source: "Acme"},
			{Resource: "acme_box.gone", MonthlyCost: "$0.00", Delta: "-$13.00", Source: "Acme",
				Note: "region not known, taken as north"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSheetsAreChecked: a line that is wrong is named, and no sheet is read in part.
func TestSheetsAreChecked(t *testing.T) {
	for line, want := range map[string]string{
		"a,*,,c,1,week,1,s,2026-01-01":  `line 2 of the price sheet: the unit "week"`,
		"a,*,,c,1,hour,-1,s,2026-01-01": `the price "-1"`,
		"a,*,,c,1,hour,1,s,yesterday":   `the date "yesterday"`,
		"a,*,x,c,1,hour,1,s,2026-01-01": `the condition "x"`,
		"a,*,,c,,hour,1,s,2026-01-01":   "neither a number nor an attribute",
		"a,*,,,1,hour,1,s,2026-01-01":   "is missing",
		"a,*":                           "wrong number of fields",
	} {
		if _, err := cost.Read(strings.NewReader(header + line + "\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := cost.Read(strings.NewReader("a,b\n")); err == nil {
		t.Error("a sheet without its first line is taken")
	}
	if _, err := cost.Shipped(); err != nil {
		t.Error(err)
	}
}
