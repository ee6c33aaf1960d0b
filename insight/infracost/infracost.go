package infracost

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/insight/cost"
	"github.com/holdfast/holdfast/internal/jsonscan"
)

// MaxValues is how many values all of these files of a run may have: read, a value takes many times what it does as
// text.
const MaxValues = 400_000

const (
	maxBytes     = 32 << 20
	maxResources = 100_000
	mostMonthly  = 1e9 // dollars
	source       = "Infracost"
)

// The shapes of Infracost's JSON, as far as they are read.
type (
	output struct {
		Version  string `json:"version"`
		Currency string `json:"currency"`
		Projects []struct {
			Past *breakdown `json:"pastBreakdown"`
			Now  *breakdown `json:"breakdown"`
		} `json:"projects"`
	}
	breakdown struct {
		Resources []struct {
			Name    string          `json:"name"`
			Monthly json.RawMessage `json:"monthlyCost"` // a number as text, or null
		} `json:"resources"`
	}
)

// ReadOfRun reads a file that a run's plan has left, of at most so many values.
func ReadOfRun(text string, most int) (cost.Given, error) {
	if jsonscan.MostValues([]byte(text)) > most {
		return nil, errors.New("the costs of Infracost: they are too many values")
	}
	return Read(strings.NewReader(text))
}

// Read reads what `infracost breakdown --format json` or `infracost diff --format json` says, in US dollars.
// What costs by its use only has no cost there, and none here.
func Read(r io.Reader) (cost.Given, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	var out output
	switch {
	case err != nil:
		return nil, fmt.Errorf("the costs of Infracost: %w", err)
	case len(raw) > maxBytes:
		return nil, fmt.Errorf("the costs of Infracost have more than %d MiB", maxBytes>>20)
	case json.Unmarshal(raw, &out) != nil:
		return nil, errors.New("the costs of Infracost: it is no JSON of this form")
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

func addCosts(given cost.Given, from *breakdown, set func(one *cost.Costing, monthly float64)) error {
	for _, r := range from.Resources {
		monthly, some, err := monthlyOf(r.Monthly)
		if err != nil {
			return err
		}
		if !some || r.Name == "" {
			continue
		}
		one := given[r.Name]
		one.Source = source
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
