package facts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/jsonscan"
)

// How much is listed of a plan, however large it is.
const (
	maxListed     = 1000
	maxAttributes = 20
	maxDependents = 10
)

// Of returns what a plan does. cut says that not all of it is listed.
func Of(p *Plan) (all api.InsightFacts, cut bool) {
	c := p.Counts
	all = api.InsightFacts{
		Counts: api.RunCounts{Add: c.Add, Change: c.Change, Destroy: c.Destroy, Replace: c.Replace, Import: c.Import,
			Forget: c.Forget, Move: c.Move, Drift: c.Drift, Outputs: c.Outputs,
			Any: c.Add+c.Change+c.Destroy+c.Import+c.Forget+c.Move+c.Read+c.Outputs > 0},
		Changes: []api.InsightChange{}, Drift: []api.InsightChange{}, Irreversible: []api.InsightDanger{},
		Outputs: []string{}, Tool: p.ToolVersion,
	}
	steps, dangers := maxSteps, newDangers()
	shown := listedOf(p.Changes)
	for i, change := range p.Changes {
		if !change.Does() {
			continue
		}
		all.Total++
		values := parse(change)
		all.Unknown += len(values.unknown)
		all.Irreversible = dangers.appendTo(all.Irreversible, change, values)
		if shown == nil || shown[i] {
			listed := values.listed(change)
			listed.DependedBy, listed.Dependents = p.links.dependents(configAddress(change.Address), maxDependents, &steps)
			all.Changes = append(all.Changes, listed)
		} else {
			cut = true
		}
	}
	for _, change := range p.Drift {
		if len(all.Drift) >= maxListed {
			cut = true
			break
		}
		all.Drift = append(all.Drift, parse(change).listed(change))
	}
	for _, output := range p.Outputs {
		if !slices.Equal(output.Actions, []string{NoOp}) {
			all.Outputs = append(all.Outputs, output.Name)
		}
	}
	if len(all.Irreversible) > maxListed {
		all.Irreversible, cut = all.Irreversible[:maxListed], true
	}
	if p.Cut {
		all.Total = max(all.Total, c.Add+c.Change+c.Destroy-c.Replace)
	}
	return all, cut || p.Cut
}

// Gravity orders kinds of changes by what somebody has to see first: what goes, before what changes, before what comes.
func Gravity(kind string) int {
	switch kind {
	case "delete":
		return 0
	case "replace":
		return 1
	case "forget":
		return 2
	case "update":
		return 3
	case "create":
		return 5
	case "read":
		return 6
	}
	return 4
}

// listedOf are the changes that are listed, by their places, where there are more than may be: the gravest; nil for
// all.
func listedOf(all []Change) map[int]bool {
	var does []int
	for i, c := range all {
		if c.Does() {
			does = append(does, i)
		}
	}
	if len(does) <= maxListed {
		return nil
	}
	slices.SortStableFunc(does, func(a, b int) int { return cmp.Compare(Gravity(all[a].Kind()), Gravity(all[b].Kind())) })
	listed := map[int]bool{}
	for _, i := range does[:maxListed] {
		listed[i] = true
	}
	return listed
}

// values are a change's attributes, each as JSON.
type values struct {
	before, after map[string]json.RawMessage
	unknown       []string
	changed       []string
}

func parse(c Change) values {
	v := values{before: object(c.Before), after: object(c.After)}
	unknown := object(c.Unknown)
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		if bytes.Contains(unknown[name], []byte("true")) {
			v.unknown = append(v.unknown, name)
		}
	}
	if v.before == nil || v.after == nil {
		return v
	}
	names := maps.Clone(v.before)
	maps.Copy(names, v.after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !same(v.before[name], v.after[name]) {
			v.changed = append(v.changed, name)
		}
	}
	return v
}

// object has the members of an object; nil of what is none.
func object(raw json.RawMessage) map[string]json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	members := map[string]json.RawMessage{}
	_ = jsonscan.Children(raw, func(child jsonscan.Child) error { // it came out of a decoder
		members[string(child.Name)] = raw[child.Start:child.End]
		return nil
	})
	return members
}

// same goes by the bytes, and by the values where these differ.
func same(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	isNull := func(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }
	return isNull(a) && isNull(b)
}

func (v values) listed(c Change) api.InsightChange {
	return api.InsightChange{Address: c.Address, Previous: c.Previous, Type: c.Type, Kind: c.Kind(), Because: c.Because,
		Attributes: first(v.changed), Unknown: first(v.unknown)}
}

func first(names []string) []string { return names[:min(len(names), maxAttributes)] }
