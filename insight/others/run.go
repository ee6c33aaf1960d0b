package others

import (
	"encoding/json"
	"io"
	"maps"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/cost"
	"github.com/holdfast/holdfast/insight/infracost"
	"github.com/holdfast/holdfast/internal/jsonscan"
)

const (
	maxFiles = 100
	// maxValues is how many values all files of scanners may have: read, a value takes many times what it does as text.
	maxValues = 400_000
)

// Found is what other programs have found while a run planned.
type Found struct {
	Results []SARIF
	Costs   cost.Given
}

// ReadRun reads the files that a run's plan has left. One that is none of its kind counts as a rule that could not be
// asked: whoever leaves it has meant something by it. The error is of reading alone.
func ReadRun(r io.Reader) (found Found, err error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return found, err
	}
	var given api.OtherResults
	if len(raw) > maxBytes || jsonscan.MostValuesOutside(raw) > maxValues || json.Unmarshal(raw, &given) != nil ||
		tooMuch(given) {
		return Found{Results: []SARIF{broken("results of other programs", "they can't be read, or are too many")}}, nil
	}
	found.Costs = cost.Given{}
	left, costsLeft := maxResults, infracost.MaxValues
	for _, file := range given.Files {
		if isCosts(file.Name) {
			costs, err := infracost.ReadOfRun(file.Text, costsLeft)
			if err != nil {
				found.Results = append(found.Results, broken(file.Name, err.Error()))
				continue
			}
			costsLeft -= jsonscan.MostValues([]byte(file.Text))
			maps.Copy(found.Costs, costs)
			continue
		}
		one, err := ReadSARIF(strings.NewReader(file.Text))
		if err != nil {
			one = broken(file.Name, err.Error())
		}
		if len(one.Findings) > left {
			one.Findings, one.Cut = one.Findings[:left], true
		}
		left -= len(one.Findings)
		found.Results = append(found.Results, one)
	}
	return found, nil
}

// tooMuch reports whether there are more files than are read, or those of scanners have more in them. One of Infracost
// that is too long is refused by itself.
func tooMuch(given api.OtherResults) bool {
	n := 0
	for _, file := range given.Files {
		if !isCosts(file.Name) {
			n += jsonscan.MostValues([]byte(file.Text))
		}
	}
	return len(given.Files) > maxFiles || n > maxValues
}

// isCosts reports whether a file is of Infracost, by its name.
func isCosts(name string) bool {
	return strings.HasPrefix(name, "infracost") && strings.HasSuffix(name, ".json") &&
		!strings.HasSuffix(name, ".sarif.json")
}

func broken(name, why string) SARIF {
	return SARIF{Broken: []api.InsightBroken{{Rule: cut(name), Reason: why}}}
}
