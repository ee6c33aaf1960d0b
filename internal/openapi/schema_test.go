package openapi

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// Schemas say of Go types what encoding/json makes of them: which members may be absent, which
// null, and which of a few texts.
func TestSchemaOf(t *testing.T) {
	type Inner struct {
		A string `json:"a"`
	}
	type Outer struct {
		Inner
		Maybe  string          `json:"maybe,omitempty"`
		Null   *string         `json:"null"`
		Absent *time.Time      `json:"absent,omitempty"`
		Kind   string          `json:"kind" enum:"x|y"`
		Always string          `json:"always" enum:"z"`
		Named  []string        `json:"named" enum:"Word"`
		Raw    json.RawMessage `json:"raw" schema:"number|string"`
		None   []string        `json:"none" null:"yes"`
		Count  uint64          `json:"count"`
		Self   *Outer          `json:"self"`
	}
	types := Types{Words: map[string][]string{"Word": {"v", "w"}},
		Comments: Comments{"Outer": "Outer is one.", "Outer.Count": "how many"}}
	if got := text(t, types.SchemaOf(reflect.TypeFor[Outer]())); got != `{"$ref":"#/components/schemas/Outer"}` {
		t.Errorf("got %s", got)
	}
	const want = `{"type":"object","description":"Outer is one.","properties":{"a":{"type":"string"},"maybe":{"type":"string"},` +
		`"null":{"type":["string","null"]},"absent":{"type":"string","format":"date-time"},"kind":{"type":"string","enum":["x","y"]},` +
		`"always":{"type":"string","const":"z"},"named":{"type":"array","items":{"$ref":"#/components/schemas/Word"}},` +
		`"raw":{"anyOf":[{"type":"number"},{"type":"string"}]},"none":{"type":["array","null"],"items":{"type":"string"}},` +
		`"count":{"type":"integer","format":"int64","minimum":0,"description":"how many"},` +
		`"self":{"anyOf":[{"$ref":"#/components/schemas/Outer"},{"type":"null"}]}},` +
		`"required":["a","null","kind","always","named","raw","none","count","self"]}`
	if got := text(t, types.made["Outer"]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// What was written with <, > or & in a name stays text in the page.
func TestPageEscapes(t *testing.T) {
	const hostile = `<img src=x>`
	page, err := Page(`{"info":{"title":"` + hostile +
		`"},"tags":[{"name":"T"}],"paths":{"/x":{"get":{"operationId":"x","tags":["T"],"summary":"` + hostile +
		`","responses":{"200":{"description":"` + hostile + `","content":{"a/b":{"schema":{"enum":["` + hostile +
		`"]},"examples":{"e":{"value":"` + hostile + `"}}}}}}}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	for i := range page {
		if len(page)-i > 4 && string(page[i:i+4]) == "<img" {
			t.Fatalf("the page has it as HTML: %s", page[max(0, i-80):i+20])
		}
	}
}
