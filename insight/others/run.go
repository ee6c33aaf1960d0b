package others

import (
	"encoding/json"
	"io"
	"maps"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/cost"
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
	if len(raw) > maxBytes || json.Unmarshal(raw, &given) != nil {
		return Found{Results: []SARIF{broken("results of other programs", "they can't be read")}}, nil
	}
	found.Costs = cost.Given{}
	left := maxResults
	for _, file := range given.Files {
		if isCosts(file.Name) {
			costs, err := ReadInfracost(strings.NewReader(file.Text))
			if err != nil {
				found.Results = append(found.Results, broken(file.Name, err.Error()))
			}
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

// isCosts reports whether a file is of Infracost, by its name.
func isCosts(name string) bool {
	return strings.HasPrefix(name, "infracost") && strings.HasSuffix(name, ".json") &&
		!strings.HasSuffix(name, ".sarif.json")
}

func broken(name, why string) SARIF {
	return SARIF{Broken: []api.InsightBroken{{Rule: cut(name), Reason: why}}}
}
