package facts

import (
	"encoding/json"

	"github.com/holdfast/holdfast/runs/changes"
)

// changesOf are changes as they were seen. Their values share memory.
func changesOf(seen []changes.Content) ([]Change, error) {
	list := make([]Change, len(seen))
	for i, s := range seen {
		c := Change{Address: s.Address, Previous: s.Previous, Module: s.Module, Deposed: s.Deposed, Mode: s.Mode,
			Type: s.Type, Name: s.Name, Provider: s.Provider, Actions: s.Actions, Reason: s.Reason,
			Before: s.Before, After: s.After, Unknown: s.Unknown}
		if err := c.parseBecause(s.ReplacePaths); err != nil {
			return nil, err
		}
		if err := c.parseImport(s.Importing); err != nil {
			return nil, err
		}
		list[i] = c
	}
	return list, nil
}

func (c *Change) parseBecause(text json.RawMessage) error {
	if text == nil {
		return nil
	}
	var paths [][]any
	if err := json.Unmarshal(text, &paths); err != nil {
		return err
	}
	for _, path := range paths {
		c.Because = append(c.Because, pathOf(path))
	}
	return nil
}

// parseImport reads by what a resource is imported, which is masked if it is sensitive.
func (c *Change) parseImport(text json.RawMessage) error {
	if text == nil {
		return nil
	}
	var importing struct {
		ID any `json:"id"`
	}
	if err := json.Unmarshal(text, &importing); err != nil {
		return err
	}
	c.Import = "(sensitive)"
	if id, isText := importing.ID.(string); isText {
		c.Import = id
	}
	return nil
}
