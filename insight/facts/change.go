package facts

import (
	"encoding/json"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// parseChange reads a change as the tools write it. Its values share the text's memory.
func parseChange(value []byte) (c Change, err error) {
	texts := map[string]*string{"address": &c.Address, "previous_address": &c.Previous, "module_address": &c.Module,
		"deposed": &c.Deposed, "mode": &c.Mode, "type": &c.Type, "name": &c.Name, "provider_name": &c.Provider,
		"action_reason": &c.Reason}
	err = jsonscan.Children(value, func(child jsonscan.Child) error {
		text := value[child.Start:child.End]
		if into, isText := texts[string(child.Name)]; isText {
			plain, _ := jsonscan.Unquote(text)
			*into = string(plain)
			return nil
		}
		if string(child.Name) == "change" {
			return c.parseInner(text)
		}
		return nil
	})
	return c, err
}

// parseInner reads what a change has under its own name.
func (c *Change) parseInner(value []byte) error {
	return jsonscan.Children(value, func(child jsonscan.Child) error {
		text := json.RawMessage(value[child.Start:child.End])
		switch string(child.Name) {
		case "before":
			c.Before = text
		case "after":
			c.After = text
		case "after_unknown":
			c.Unknown = text
		case "actions":
			return json.Unmarshal(text, &c.Actions)
		case "replace_paths":
			return c.parseBecause(text)
		case "importing":
			return c.parseImport(text)
		}
		return nil
	})
}

func (c *Change) parseBecause(text json.RawMessage) error {
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
	var importing *struct {
		ID any `json:"id"`
	}
	if err := json.Unmarshal(text, &importing); err != nil || importing == nil {
		return err
	}
	c.Import = "(sensitive)"
	if id, isText := importing.ID.(string); isText {
		c.Import = id
	}
	return nil
}
