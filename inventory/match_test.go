package inventory_test

import (
	"testing"

	"github.com/holdfast/holdfast/inventory"
)

func TestMatchesAttributes(t *testing.T) {
	const attributes = `{"s":"a\"\u00e9","n":1.0e+00,"t":true,"z":null,"l":[1,"x"],"o":{"a":1},"":"empty","d":1,"d":2}`
	for _, test := range []struct {
		attributes string
		want       map[string]string
		matches    bool
	}{
		{attributes, nil, true},
		{attributes, map[string]string{"s": `a"é`}, true},
		{attributes, map[string]string{"s": `"a\"\u00e9"`}, false},
		{attributes, map[string]string{"n": "1.0e+00", "t": "true", "z": "null", "l": `[1,"x"]`, "o": `{"a":1}`, "": "empty"},
			true},
		{attributes, map[string]string{"n": "1"}, false},
		{attributes, map[string]string{"t": "true", "z": ""}, false},
		{attributes, map[string]string{"t": "true", "gone": ""}, false},
		{attributes, map[string]string{"gone": "null"}, false},
		{attributes, map[string]string{"d": "2"}, true},
		{attributes, map[string]string{"d": "2", "gone": "1"}, false},
		{`[]`, map[string]string{"a": "1"}, false},
		{`{"a":1`, map[string]string{"a": "1"}, false},
		{`{"a":"1"}`, map[string]string{"a": "1"}, true},
	} {
		record := inventory.Record{Resource: inventory.Resource{Attributes: []byte(test.attributes)}}
		if got := (inventory.Query{Attributes: test.want}).Matches(record); got != test.matches {
			t.Errorf("%s matches %q: %v", test.attributes, test.want, got)
		}
	}
}
