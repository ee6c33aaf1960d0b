package cost

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/facts"
)

// maxListed bounds how many resources are named, those that cost the most first.
const maxListed = 1000

// price is what a resource costs per month.
type price struct {
	monthly float64
	source  string
	date    string
	note    string
	free    bool
}

// Of returns what the resources of a plan cost. cut says that not all are listed.
func (s *Sheet) Of(p *facts.Plan) (costs api.InsightCosts, cut bool) {
	costs = api.InsightCosts{Estimated: []api.InsightCost{}, AIEstimated: []api.InsightAICost{}, Unpriced: []string{}}
	total, delta := 0.0, 0.0
	type costly struct {
		api.InsightCost
		monthly float64
	}
	var list []costly
	for _, change := range p.Changes {
		if change.Mode == "data" || change.Kind() == facts.Forget {
			continue
		}
		after, before, some := s.given.of(change)
		hasAfter, hasBefore := some, some
		if !some {
			after, hasAfter = s.price(p, change, change.After)
			if before, hasBefore = after, hasAfter; !bytes.Equal(change.Before, change.After) {
				before, hasBefore = s.price(p, change, change.Before)
			}
		}
		if !hasAfter || !hasBefore {
			costs.Unpriced = append(costs.Unpriced, change.Address)
			continue
		}
		total, delta = total+after.monthly, delta+after.monthly-before.monthly
		known := after
		if known.source == "" || isNull(change.After) {
			known = before
		}
		if known.free || known.source == "" {
			continue
		}
		if known.date != "" && (costs.PricesDate == "" || known.date < costs.PricesDate) {
			costs.PricesDate = known.date
		}
		list = append(list, costly{api.InsightCost{Resource: change.Address, MonthlyCost: dollars(after.monthly),
			Delta: signed(after.monthly - before.monthly), Source: known.source, Note: known.note}, after.monthly})
	}
	slices.SortStableFunc(list, func(a, b costly) int { return cmp.Compare(b.monthly, a.monthly) })
	for _, one := range list[:min(len(list), maxListed)] {
		costs.Estimated = append(costs.Estimated, one.InsightCost)
	}
	cut = len(list) > maxListed || len(costs.Unpriced) > maxListed
	costs.Unpriced = costs.Unpriced[:min(len(costs.Unpriced), maxListed)]
	costs.TotalMonthly, costs.DeltaMonthly = dollars(total), signed(delta)
	return costs, cut
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// price is what a resource with these values costs; of none, nothing. Each part that the sheet
// knows of has to have a price.
func (s *Sheet) price(p *facts.Plan, c facts.Change, raw json.RawMessage) (sum price, ok bool) {
	if isNull(raw) {
		return price{}, true
	}
	rows := s.byType[strings.TrimSuffix(c.Type, "_v1")]
	if len(rows) == 0 {
		return price{}, false
	}
	var values any
	if json.Unmarshal(raw, &values) != nil {
		return price{}, false
	}
	region, assumed := regionOf(p, c, values, rows)
	sum = price{free: true}
	if assumed {
		sum.note = "region not known, taken as " + region
	}
	var done, missing []string
	for _, r := range rows {
		if slices.Contains(done, r.component) {
			continue
		}
		amount, matches := r.matches(region, values)
		if !matches {
			missing = append(missing, r.component)
			continue
		}
		done = append(done, r.component)
		sum.monthly += amount * r.monthly
		sum.free = sum.free && r.free
		sum.source = r.source
		if sum.date == "" || r.date < sum.date {
			sum.date = r.date
		}
	}
	for _, component := range missing {
		if !slices.Contains(done, component) {
			return price{}, false
		}
	}
	return sum, true
}

func (r row) matches(region string, values any) (amount float64, ok bool) {
	if r.region != "*" && r.region != region {
		return 0, false
	}
	for _, c := range r.when {
		if textOf(at(values, c.path)) != c.value {
			return 0, false
		}
	}
	amount = 1
	for _, f := range r.quantity {
		factor := f.number
		if f.path != "" {
			switch number, isNumber := at(values, f.path).(float64); {
			case isNumber:
				factor = number
			case !f.fallback:
				return 0, false
			}
		}
		amount *= factor
	}
	return amount, amount >= 0 && !math.IsInf(amount, 0)
}

// at is what stands at a path such as a.b; of a list, its first element counts.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		if list, isList := value.([]any); isList && len(list) > 0 {
			value = list[0]
		}
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case bool:
		return strconv.FormatBool(value)
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return ""
}

// regionOf is where a resource is: by its own attributes, or by its provider's. Where neither says
// it, the first region of the sheet is assumed.
func regionOf(p *facts.Plan, c facts.Change, values any, rows []row) (region string, assumed bool) {
	for _, name := range []string{"region", "location"} {
		if text := textOf(at(values, name)); text != "" {
			return strings.ToLower(strings.ReplaceAll(text, " ", "")), false
		}
	}
	for _, name := range []string{"availability_zone", "zone"} {
		if zone := textOf(at(values, name)); len(zone) > 2 {
			return strings.TrimSuffix(strings.TrimRight(zone, "abcdef"), "-"), false
		}
	}
	provider, _, _ := strings.Cut(c.Type, "_")
	if region := p.Providers[provider].Region; region != "" {
		return region, false
	}
	for _, r := range rows {
		if r.region != "*" {
			return r.region, true
		}
	}
	return "", false
}

// dollars is an amount as the command line's block has it.
func dollars(amount float64) string { return fmt.Sprintf("$%.2f", amount) }

func signed(amount float64) string {
	switch {
	case math.Abs(amount) < 0.005:
		return "+$0.00"
	case amount < 0:
		return "-" + dollars(-amount)
	}
	return "+" + dollars(amount)
}

// ParseDelta reads what signed has written: the dollars of a monthly difference.
func ParseDelta(text string) (float64, error) {
	sign, number, ok := strings.Cut(text, "$")
	amount, err := strconv.ParseFloat(number, 64)
	switch {
	case !ok || err != nil || sign != "+" && sign != "-":
		return 0, fmt.Errorf("cost: %q is no difference of costs", text)
	case sign == "-":
		return -amount, nil
	}
	return amount, nil
}
