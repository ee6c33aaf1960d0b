package jsonscan

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// children renders what Children reports, with each child's text.
func children(data string) ([]string, error) {
	var all []string
	err := Children([]byte(data), func(c Child) error {
		all = append(all, fmt.Sprintf("%d %s=%s", c.Index, c.Name, data[c.Start:c.End]))
		return nil
	})
	return all, err
}

func TestChildren(t *testing.T) {
	for _, tt := range []struct {
		data string
		want []string
	}{
		{`[]`, nil},
		{` [ ] `, nil},
		{`{}`, nil},
		{`"a"`, nil},
		{` -1.5e3 `, nil},
		{`[1, [2,3] ,{"a":4}]`, []string{"0 =1", "1 =[2,3]", `2 ={"a":4}`}},
		{"{\n  \"\\u0061\" : [1] ,\"\": null,\"a\":2}\n", []string{"0 a=[1]", "1 =null", "2 a=2"}},
	} {
		got, err := children(tt.data)
		if err != nil || !cmp.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v; want %q", tt.data, got, err, tt.want)
		}
	}
}

func TestChildrenHasTheStrictGrammar(t *testing.T) {
	for _, value := range invalidValues {
		for _, data := range append(placements(value), value, "["+value+"]") {
			_, err := children(data)
			if _, ok := errors.AsType[*SyntaxError](err); !ok && !json.Valid([]byte(data)) {
				t.Errorf("%q: %v, want a SyntaxError", data, err)
			}
		}
	}
	for _, value := range validValues {
		for _, data := range append(placements(value), value, "["+value+"]") {
			if _, err := children(data); err != nil {
				t.Errorf("%q: %v", data, err)
			}
		}
	}
}

func TestChildrenStopsAtTheVisitorsError(t *testing.T) {
	stop, visits := errors.New("stop"), 0
	err := Children([]byte(`[1,2,3]`), func(Child) error { visits++; return stop })
	if !errors.Is(err, stop) || visits != 1 {
		t.Errorf("%v after %d visits", err, visits)
	}
}

// A cursor that goes into every container reads what one does that goes into none.
func TestCursorGoesIntoWhatItIsTold(t *testing.T) {
	for _, value := range append(append([]string{}, validValues...), invalidValues...) {
		for _, data := range placements(value) {
			outside, inside := NewCursor([]byte(data), Limits{}), NewCursor([]byte(data), Limits{})
			_, err := outside.Value()
			if err == nil {
				err = outside.Close()
			}
			deep := dive(inside)
			if deep == nil {
				deep = inside.Close()
			}
			if (err == nil) != (deep == nil) {
				t.Errorf("%q: %v, going into it %v", data, err, deep)
			}
		}
	}
}

// dive goes into every container but every third child.
func dive(c *Cursor) error {
	return c.Each(func(child Child) error {
		switch child.Index % 3 {
		case 0:
			return dive(c)
		case 1:
			_, err := c.Value()
			return err
		}
		return nil
	})
}

// FuzzChildren rebuilds a container from its children and compares with encoding/json.
func FuzzChildren(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add([]byte(smallState))
	f.Add([]byte(`[1, "a" ,[[{}]], {"x":[null]}]`))
	f.Add([]byte(`{"a":1,"a":[2],"\u0061":"é"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var texts []json.RawMessage
		members := map[string]json.RawMessage{}
		err := Children(data, func(c Child) error {
			texts = append(texts, json.RawMessage(data[c.Start:c.End]))
			members[string(c.Name)] = texts[len(texts)-1]
			return nil
		})
		if err != nil {
			return
		}
		if !json.Valid(data) || !utf8.Valid(data) {
			t.Fatalf("%q was taken", data)
		}
		var list []json.RawMessage
		if json.Unmarshal(data, &list) == nil && list != nil && len(list)+len(texts) > 0 && !cmp.Equal(list, texts) {
			t.Fatalf("%q: %q, want %q", data, texts, list)
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(data, &object) == nil && object != nil && !cmp.Equal(object, members) {
			t.Fatalf("%q: %q, want %q", data, members, object)
		}
	})
}
