package jsonscan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// visits returns what Walk reports, as "pointer kind text".
func visits(t *testing.T, data string) []string {
	t.Helper()
	kinds := []string{"{", "}", "[", "]", "string", "number", "bool", "null"}
	var got []string
	err := Walk([]byte(data), Limits{}, func(v *Value) error {
		got = append(got, fmt.Sprintf("%s %s %s", v.Path.Pointer(), kinds[v.Kind], v.Text))
		return nil
	})
	if err != nil {
		t.Fatalf("Walk(%q): %v", data, err)
	}
	return got
}

func TestWalkReports(t *testing.T) {
	got := visits(t, ` { "a" : [ 1 , {"b":"x"} , [ ] ] , "~\/\u0041" : { } , "" : [ true , null ] } `)
	want := []string{
		" { ",
		"/a [ ", "/a/0 number 1", "/a/1 { ", `/a/1/b string "x"`, `/a/1 } {"b":"x"}`, "/a/2 [ ", "/a/2 ] [ ]",
		`/a ] [ 1 , {"b":"x"} , [ ] ]`,
		"/~0~1A { ", "/~0~1A } { }",
		"/ [ ", "//0 bool true", "//1 null null", "/ ] [ true , null ]",
		` } { "a" : [ 1 , {"b":"x"} , [ ] ] , "~\/\u0041" : { } , "" : [ true , null ] }`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("visits (-want +got):\n%s", diff)
	}
}

func TestPathSteps(t *testing.T) {
	err := Walk([]byte(`{"a":[0,{"b":1}]}`), Limits{}, func(v *Value) error {
		if v.Kind != Number || v.Path.Len() != 3 {
			return nil
		}
		p := v.Path
		if string(p.Name(0)) != "a" || p.Index(0) != -1 || p.Name(1) != nil || p.Index(1) != 1 || string(p.Name(2)) != "b" {
			t.Errorf("steps %q %d %q %d %q", p.Name(0), p.Index(0), p.Name(1), p.Index(1), p.Name(2))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWalkStopsAtVisit(t *testing.T) {
	stop := errors.New("stop")
	count := 0
	err := Walk([]byte(`{"a":[1,2],"b":x`), Limits{}, func(v *Value) error {
		if count++; v.Kind == Number {
			return stop
		}
		return nil
	})
	if err != stop || count != 3 {
		t.Errorf("%v after %d visits; want stop, as it is, after 3", err, count)
	}
}

func TestWalkErrors(t *testing.T) {
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf(`"k%d":{"x":1}`, i)
	}
	big := "{" + strings.Join(many, ",")
	tests := []struct {
		data, pointer string
		want          error
	}{
		{``, "", &SyntaxError{0, "no value"}},
		{`[1]`, "", &NotObjectError{0, "an array"}},
		{`{"a":1} {}`, "", &SyntaxError{8, "data after the object"}},
		{`{"a":[1,{"b":tru}]}`, "/a/1/b", &SyntaxError{13, badLiteral}},
		{`{"a":[1,]}`, "/a/1", &SyntaxError{8, noValue}},
		{`{"a":1,}`, "/", &SyntaxError{7, noName}},
		{`{"a":[1 2]}`, "/a/0", &SyntaxError{8, "a comma or the end of the array should be here"}},
		{"{\"a\":{\"b\":\"\xff\"}}", "/a/b", &SyntaxError{11, "invalid UTF-8"}},
		{`{"a":1,"a":2}`, "/a", &DuplicateError{7}},
		{`{"a":1,"\u0061":2}`, "/a", &DuplicateError{7}},
		{`{"\u0061":1,"a":2}`, "/a", &DuplicateError{12}},
		{`{"":1,"":2}`, "/", &DuplicateError{6}},
		{`{"x":[{"a":{"b":1}},{"a":1,"b":{},"a":2}]}`, "/x/1/a", &DuplicateError{34}},
		{`{"a":{"b":{"a":1,"b":2}},"b":1,"a":3}`, "/a", &DuplicateError{31}},
		{big + `,"k0":0}`, "/k0", &DuplicateError{len(big) + 1}},
		{big + `,"k999":0}`, "/k999", &DuplicateError{len(big) + 1}},
		{`{"a":"x\u0000"}`, "/a", &NULError{7}},
		{`{"a":{"\u0000":1}}`, "/a/\x00", &NULError{7}},
		{`{"a":["\\u0000","\\\u0000"]}`, "/a/1", &NULError{19}},
		{`{"a":[[[]]]}`, "/a/0/0", &LimitError{7, "depth", 3}},
		{`{"a":{},"b":[{},{}]}`, "/b/1", &LimitError{16, "containers", 4}},
		{`{"a":{"a":1},"b":[{"":2}]}`, "/b/0/", &LimitError{19, "names", 3}},
	}
	for _, tt := range tests {
		err := Shape([]byte(tt.data), Limits{})
		if limit, ok := tt.want.(*LimitError); ok && limit.Limit == "depth" {
			err = Shape([]byte(tt.data), Limits{Depth: limit.Max})
		} else if ok && limit.Limit == "names" {
			err = Shape([]byte(tt.data), Limits{Names: limit.Max})
		} else if ok {
			err = Shape([]byte(tt.data), Limits{Containers: limit.Max})
		}
		place, ok := errors.AsType[*PlaceError](err)
		if !ok || place.Pointer != tt.pointer || !cmp.Equal(place.Err, tt.want) {
			t.Errorf("Shape(%.60q): %v; want %q, %v", tt.data, err, tt.pointer, tt.want)
		}
	}
}

// The limits are inclusive.
func TestWalkAtTheLimits(t *testing.T) {
	if err := Shape([]byte(`{"a":[[]],"b":{}}`), Limits{Depth: 3, Containers: 4, Names: 2}); err != nil {
		t.Error(err)
	}
}

// A pointer is cut between characters, and not within an escape.
func TestPointerIsCut(t *testing.T) {
	for _, unit := range []string{"x", "é", "状", "😀", "~", "/", "ab~"} {
		for shift := range 4 {
			name := strings.Repeat("x", shift) + strings.Repeat(unit, 5000)
			err := Shape([]byte(string(AppendQuote([]byte("{"), name))+`:tru}`), Limits{})
			place, _ := errors.AsType[*PlaceError](err)
			whole, isCut := strings.CutSuffix(place.Pointer, "…")
			unescaped := strings.NewReplacer("~0", "~", "~1", "/").Replace(whole)
			if !isCut || len(whole) > maxPointer || len(whole) < maxPointer-4 || !strings.HasPrefix("/"+name, unescaped) {
				t.Errorf("%d times %q: %q", shift, unit, place.Pointer)
			}
		}
	}
}

// TestNameSet adds and forgets at random, and compares with a map for each owner.
func TestNameSetManyNames(t *testing.T) {
	set := newNameSet()
	for round := range 3 {
		for i := range 5000 {
			if !set.add(1, fmt.Append(nil, i)) || i%7 == 0 && set.add(1, fmt.Append(nil, i/2)) {
				t.Fatalf("round %d: wrong about name %d", round, i)
			}
			if i%100 != 0 {
				continue
			}
			before := len(set.names)
			for j := range 50 {
				if !set.add(2, fmt.Append(nil, j)) || set.add(2, fmt.Append(nil, j)) {
					t.Fatalf("round %d: wrong about inner name %d of %d", round, j, i)
				}
			}
			set.forget(before)
		}
		set.forget(0)
		if slices.ContainsFunc(set.slots, func(slot uint32) bool { return slot != 0 }) {
			t.Fatalf("round %d: a slot is left over", round)
		}
	}
}

func TestAppendQuote(t *testing.T) {
	for text, want := range map[string]string{
		"":                  `""`,
		"plain":             `"plain"`,
		"a\"b\\c":           `"a\"b\\c"`,
		"\n\r\t\b\x00\x1f":  `"\n\r\t\u0008\u0000\u001f"`,
		"<a&b>\u2028é😀\x7f": "\"<a&b>\u2028é😀\x7f\"",
		"x\xffy\xc3\ufffd":  "\"x\ufffdy\ufffd\ufffd\"",
	} {
		if got := string(AppendQuote(nil, text)); got != want {
			t.Errorf("AppendQuote(%q) = %s, want %s", text, got, want)
		}
	}
}

// TestWalkSpaced: white space counts that is in the container, and outside of strings.
func TestWalkSpaced(t *testing.T) {
	for data, want := range map[string]string{
		` {"a":[1,2],"b":{"c d":" "}} `:           "",
		`{"a":[1, 2],"b":{"c d":" "}}`:            "/a /",
		`{"a":[1,2] ,"b":{"c d":" "}}`:            "/",
		`{"a":[1,2],"b":{"c d":" "` + "\n" + `}}`: "/b /",
		`{"a":[` + "\t" + `],"b":{}}`:             "/a /",
		`{"a" :[],"b":{` + "\r" + `}}`:            "/b /",
	} {
		var got []string
		err := Walk([]byte(data), Limits{}, func(v *Value) error {
			if v.Spaced {
				got = append(got, "/"+strings.TrimPrefix(v.Path.Pointer(), "/"))
			}
			return nil
		})
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v; want %q", data, got, err, want)
		}
	}
}
