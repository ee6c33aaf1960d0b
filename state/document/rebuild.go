package document

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// byStep sorts changes by where they go from a value at the depth.
func byStep(changes []AttributeChange, depth int) map[Step][]AttributeChange {
	all := map[Step][]AttributeChange{}
	for _, c := range changes {
		all[c.Path[depth]] = append(all[c.Path[depth]], c)
	}
	return all
}

func applyToObject(raw json.RawMessage, changes []AttributeChange, depth int) json.RawMessage {
	members := membersOf(raw, nil)
	for step, inside := range byStep(changes, depth) {
		if value := applyChanges(members[step.Name], inside, depth+1); value != nil {
			members[step.Name] = value
		} else {
			delete(members, step.Name)
		}
	}
	out := []byte{'{'}
	for n, name := range slices.Sorted(maps.Keys(members)) {
		if n > 0 {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendQuote(out, name), ':')
		out = append(out, members[name]...)
	}
	return append(out, '}')
}

// applyToArray knows that elements come and go only at the end.
func applyToArray(raw json.RawMessage, changes []AttributeChange, depth int) json.RawMessage {
	elements, inside := elementsOf(raw, nil), byStep(changes, depth)
	last := len(elements)
	for step := range inside {
		last = max(last, step.Index+1)
	}
	out := []byte{'['}
	for i := range last {
		value := applyChanges(nth(elements, i), inside[Nth(i)], depth+1)
		if value == nil {
			break
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, value...)
	}
	return append(out, ']')
}
