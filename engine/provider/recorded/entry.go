// Package recorded writes down what is asked of a provider and what it answers, and answers the same again
// later without the provider: for tests, and to look at what went wrong elsewhere. A recording has all values
// as they are, also secret ones.
package recorded

import (
	"encoding/json"
	"errors"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/holdfast/holdfast/engine/provider"
)

// entry is one call.
type entry struct {
	Call   string           `json:"call"`
	Type   string           `json:"type,omitempty"`
	Text   string           `json:"text,omitempty"`
	Number int64            `json:"number,omitempty"`
	Asked  map[string]value `json:"asked,omitempty"`
	Kept   []byte           `json:"kept,omitempty"` // what the provider wants to be kept beside the object
	Answer answer           `json:"answer"`
}

// answer is what came back.
type answer struct {
	Value   value             `json:"value"`
	Kept    []byte            `json:"kept,omitempty"`
	Replace []value           `json:"replace,omitempty"` // the steps of each path, as a list
	Legacy  bool              `json:"legacy,omitempty"`
	Schemas *provider.Schemas `json:"schemas,omitempty"`
	Fault   *provider.Fault   `json:"fault,omitempty"`
}

// key is what a call is found again by.
func (e entry) key() string {
	e.Answer = answer{}
	text, err := json.Marshal(e)
	if err != nil {
		return e.Call
	}
	return string(text)
}

// fail notes an error.
func (a *answer) fail(err error) {
	var fault *provider.Fault
	switch {
	case err == nil:
	case errors.As(err, &fault):
		a.Fault = fault
	default:
		a.Fault = &provider.Fault{Summary: err.Error()}
	}
}

// err is the error that was noted.
func (a answer) err() error {
	if a.Fault == nil {
		return nil
	}
	return a.Fault
}

// value is a value with its type, and with what isn't known of it.
type value struct{ cty.Value }

// MarshalJSON implements json.Marshaler.
func (v value) MarshalJSON() ([]byte, error) {
	if v.Value == cty.NilVal {
		return []byte("null"), nil
	}
	packed, err := msgpack.Marshal(v.Value, cty.DynamicPseudoType)
	if err != nil {
		return nil, err
	}
	return json.Marshal(packed)
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *value) UnmarshalJSON(text []byte) error {
	var packed []byte
	if err := json.Unmarshal(text, &packed); err != nil || packed == nil {
		return err
	}
	var err error
	v.Value, err = msgpack.Unmarshal(packed, cty.DynamicPseudoType)
	return err
}

// pack has a path as a list: the names of attributes as strings in lists of one, keys as they are.
func pack(path cty.Path) value {
	var steps []cty.Value
	for _, s := range path {
		switch s := s.(type) {
		case cty.GetAttrStep:
			steps = append(steps, cty.TupleVal([]cty.Value{cty.StringVal(s.Name)}))
		case cty.IndexStep:
			steps = append(steps, s.Key)
		}
	}
	return value{cty.TupleVal(steps)}
}

func unpack(v value) (path cty.Path) {
	for it := v.ElementIterator(); it.Next(); {
		_, s := it.Element()
		if s.Type().IsTupleType() {
			path = path.GetAttr(s.Index(cty.Zero).AsString())
			continue
		}
		path = path.Index(s)
	}
	return path
}
