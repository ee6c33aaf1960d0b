package handlers

import (
	"encoding/json"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/state/document"
)

// resourceChangeOf shares the values' memory with the change.
func resourceChangeOf(c document.ResourceChange) api.ResourceChange {
	change := api.ResourceChange{Action: string(c.Action), Instance: instanceOf(c.Place)}
	if c.Previous != nil {
		previous := instanceOf(*c.Previous)
		change.Previous = &previous
	}
	for _, f := range c.Fields {
		change.Fields = append(change.Fields, api.FieldChange{Field: f.Field, Change: api.Change(f.Change)})
	}
	for _, a := range c.Attributes {
		change.Attributes = append(change.Attributes, api.AttributeChange{
			Path: items(a.Path, stepText), Change: api.Change(a.Change), Sensitive: a.Sensitive,
		})
	}
	return change
}

func instanceOf(p document.Place) api.Instance {
	i := api.Instance{Address: p.Address, Module: p.Module, Mode: p.Mode, Type: p.Type, Name: p.Name, Deposed: p.Deposed}
	if p.Key != (document.Key{}) {
		i.Key, _ = p.Key.MarshalJSON() // a number or a text: can't fail
	}
	return i
}

func stepText(s document.Step) json.RawMessage {
	text, _ := s.MarshalJSON() // a number or a text: can't fail
	return text
}
