package others

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/holdfast/holdfast/insight/cost"
)

const (
	maxResources = 100_000
	mostMonthly  = 1e9 // dollars
	infracost    = "Infracost"
)

// The shapes of Infracost's JSON, as far as they are read.
type (
	infracostOutput struct {
		Version  string `json:"version"`
		Currency string `json:"currency"`
		Projects []struct {
			Past *infracostBreakdown `json:"pastBreakdown"`
			Now  *infracostBreakdown `json:"breakdown"`
		} `json:"projects"`
	}
	infracostBreakdown struct {
		Resources []struct {
			Name    string          `json:"name"`
			Monthly json.RawMessage `json:"monthlyCost"` // a number as text, or null
		} `json:"resources"`
	}
)

// ReadInfracost reads what `infracost breakdown --format json` or `infracost diff --format json` says, in US dollars.
// What costs by its use only has no cost there, and none here.
func ReadInfracost(r io.Reader) (cost.Given, error) {
	var out infracostOutput
	if err := readJSON(r, &out); err != nil {
		return nil, fmt.Errorf("the costs of Infracost: %w", err)
	}
	switch {
	case out.Version == "" || out.Projects == nil:
		return nil, errors.New("the costs of Infracost: it is no output of it")
	case out.Currency != "" && out.Currency != "USD":
		return nil, fmt.Errorf("the costs of Infracost are in %.10q, and others here in US dollars", out.Currency)
	}
	given := cost.Given{}
	for _, project := range out.Projects {
		if project.Now == nil {
			continue
		}
		err := addCosts(given, project.Now, func(one *cost.Costing, monthly float64) {
			one.After, one.HasAfter = monthly, true
		})
		if err != nil {
			return nil, err
		}
		if project.Past == nil {
			continue
		}
		err = addCosts(given, project.Past, func(one *cost.Costing, monthly float64) {
			one.Before, one.HasBefore = monthly, true
		})
		if err != nil {
			return nil, err
		}
	}
	return given, nil
}

func addCosts(given cost.Given, from *infracostBreakdown, set func(one *cost.Costing, monthly float64)) error {
	for _, r := range from.Resources {
		monthly, some, err := monthlyOf(r.Monthly)
		if err != nil {
			return err
		}
		if !some || r.Name == "" {
			continue
		}
		one := given[r.Name]
		one.Source = infracost
		set(&one, monthly)
		given[r.Name] = one
		if len(given) > maxResources {
			return fmt.Errorf("the costs of Infracost are of more than %d resources", maxResources)
		}
	}
	return nil
}

func monthlyOf(raw json.RawMessage) (monthly float64, some bool, err error) {
	text := string(raw)
	if text == "" || text == "null" {
		return 0, false, nil
	}
	if quoted := ""; json.Unmarshal(raw, &quoted) == nil {
		text = quoted
	}
	monthly, err = strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(monthly) || monthly < 0 || monthly > mostMonthly {
		return 0, false, fmt.Errorf("the costs of Infracost: %.30q is no cost a month", text)
	}
	return monthly, true, nil
}
