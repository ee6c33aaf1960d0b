package resources

import (
	"encoding/json"

	"github.com/holdfast/holdfast/internal/jsonscan"
	"github.com/holdfast/holdfast/inventory"
)

// ofRecord returns an uploaded resource.
func (r *Rules) ofRecord(record inventory.Record) Resource {
	var attributes, tags pairs
	_ = jsonscan.Object(record.Attributes, jsonscan.Limits{}, func(key, value []byte) error {
		if text, ok := scalar(value); ok {
			r.add(&attributes, string(key), text)
		} else if name := string(key); name == "tags" || name == "labels" {
			r.collect(&tags, value)
		}
		return nil
	})
	return Resource{
		Place: Place{Source: FromUpload, Address: addressOf(record.Resource)},
		Type:  record.ResourceType, Provider: record.Provider, Category: record.Category, Name: record.ResourceName,
		At: record.Timestamp, Attributes: attributes.list, Tags: tags.list,
		Traits: r.ofUpload(record.Provider, record.ResourceType, record.ResourceName, valueIn(attributes.list)),
	}
}

// addressOf tells uploads apart: the words before the name have no slashes.
func addressOf(r inventory.Resource) string {
	return r.Provider + "/" + r.Category + "/" + r.ResourceType + "/" + r.ResourceName
}

func (r *Rules) collect(tags *pairs, object json.RawMessage) {
	_ = jsonscan.Object(object, jsonscan.Limits{}, func(key, value []byte) error {
		if text, ok := scalar(value); ok {
			r.add(tags, string(key), text)
		}
		return nil
	})
}

// add leaves out what is a secret by its name.
func (r *Rules) add(list *pairs, name, value string) {
	if !r.secret.Match(name) {
		list.add(name, value)
	}
}

// scalar returns the text of a string, a number or a boolean.
func scalar(value []byte) (string, bool) {
	if text, ok := jsonscan.Unquote(value); ok {
		return string(text), true
	}
	switch value[0] {
	case '{', '[', 'n':
		return "", false
	}
	return string(value), true
}

func valueIn(list []Pair) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, pair := range list {
			if pair.Name == name {
				return pair.Value, true
			}
		}
		return "", false
	}
}
