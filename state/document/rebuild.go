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

// applyToArray leaves out what is gone, and has what is left and what came fill the places after.
func applyToArray(raw json.RawMessage, changes []AttributeChange, depth int) json.RawMessage {
	gone, came := map[int]bool{}, map[int]json.RawMessage{}
	var inside []AttributeChange
	for _, c := range changes {
		step, ends := c.Path[depth], len(c.Path) == depth+1
		switch {
		case ends && c.After == nil:
			gone[step.Index] = true
		case ends && c.Before == nil:
			came[step.Index] = c.After
		default:
			inside = append(inside, c)
		}
	}
	changed := byStep(inside, depth)
	out := []byte{'['}
	add := func(value json.RawMessage) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, value...)
	}
	at := 0
	arrive := func() {
		for ; came[at] != nil; at++ {
			add(came[at])
		}
	}
	for i, element := range elementsOf(raw, nil) {
		if gone[i] {
			continue
		}
		arrive()
		add(applyChanges(element, changed[Nth(at)], depth+1))
		at++
	}
	arrive()
	return append(out, ']')
}
