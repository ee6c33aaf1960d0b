package jsonscan

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// members returns what Object reports, as name=value.
func members(t *testing.T, data string) []string {
	t.Helper()
	var got []string
	err := Object([]byte(data), Limits{}, func(key, value []byte) error {
		got = append(got, string(key)+"="+string(value))
		return nil
	})
	if err != nil {
		t.Fatalf("Object(%q): %v", data, err)
	}
	return got
}

func TestObjectReportsMembers(t *testing.T) {
	tests := []struct {
		name, data string
		want       []string
	}{
		{"none", " {\n} ", nil},
		{"scalars", `{"a":1,"b":-0.5e+3,"c":"x","d":true,"e":false,"f":null}`,
			[]string{"a=1", "b=-0.5e+3", `c="x"`, "d=true", "e=false", "f=null"}},
		{"without the white space around", "\t{ \"a\" :\r\n [ 1 , {} ] , \"b\" : 2 }\n", []string{"a=[ 1 , {} ]", "b=2"}},
		{"only the top level", `{"a":{"b":{"c":1}},"d":[{"e":2}]}`, []string{`a={"b":{"c":1}}`, `d=[{"e":2}]`}},
		{"duplicates", `{"a":1,"a":2}`, []string{"a=1", "a=2"}},
		{"empty name", `{"":1}`, []string{"=1"}},
		{"escaped names", `{"se\u0072ial":1,"\"\\\/\b\f\n\r\t":2,"\ud83d\uDE00":3,"\u0000":4}`,
			[]string{"serial=1", "\"\\/\b\f\n\r\t=2", "😀=3", "\x00=4"}},
		{"values as they stand", `{"a":"\u0061","é":"é"}`, []string{`a="\u0061"`, `é="é"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, members(t, tt.data)); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
		})
	}
}

// TestObjectReportsAsItGoes: a member is reported before a fault behind it is found.
func TestObjectReportsAsItGoes(t *testing.T) {
	var got []string
	err := Object([]byte(`{"a":1,"b":[2,}`), Limits{}, func(key, _ []byte) error {
		got = append(got, string(key))
		return nil
	})
	if err == nil || !cmp.Equal(got, []string{"a"}) {
		t.Errorf("members %v, error %v; want a and an error", got, err)
	}
}

func TestObjectReturnsTheMembersError(t *testing.T) {
	stop, calls := errors.New("stop"), 0
	err := Object([]byte(`{"a":1,"b":2`), Limits{}, func(_, _ []byte) error {
		calls++
		return stop
	})
	if err != stop || calls != 1 {
		t.Errorf("error %v after %d calls, want stop after 1", err, calls)
	}
}

func TestObjectNeedsAnObject(t *testing.T) {
	for data, want := range map[string]NotObjectError{
		`[1]`:      {0, "an array"},
		"\n \"a\"": {2, "a string"},
		`true`:     {0, "a boolean"},
		` false`:   {1, "a boolean"},
		`null`:     {0, "null"},
		`-1`:       {0, "a number"},
		`0`:        {0, "a number"},
	} {
		err := Object([]byte(data), Limits{}, nil)
		got, ok := errors.AsType[*NotObjectError](err)
		if !ok || *got != want {
			t.Errorf("Object(%q): %v, want %v", data, err, &want)
		}
	}
}

func TestLimits(t *testing.T) {
	const data = `{"a":[[1],{}],"b":{}}` // depth 3, 5 containers
	tests := []struct {
		limits Limits
		want   error
	}{
		{Limits{}, nil},
		{Limits{Depth: 3, Containers: 5}, nil},
		{Limits{Depth: 2}, &LimitError{Offset: 6, Limit: "depth", Max: 2}},
		{Limits{Depth: 1}, &LimitError{Offset: 5, Limit: "depth", Max: 1}},
		{Limits{Containers: 4}, &LimitError{Offset: 18, Limit: "containers", Max: 4}},
		{Limits{Containers: 1}, &LimitError{Offset: 5, Limit: "containers", Max: 1}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Object([]byte(data), tt.limits, nil)); diff != "" {
			t.Errorf("Object with %+v (-want +got):\n%s", tt.limits, diff)
		}
	}
}

func TestErrorsName(t *testing.T) {
	for want, err := range map[string]error{
		"invalid JSON at byte offset 7: no value":                                 &SyntaxError{7, "no value"},
		"the JSON value at byte offset 2 is an array, not an object":              &NotObjectError{2, "an array"},
		"the JSON value exceeds the limit of 10 for its depth at byte offset 100": &LimitError{100, "depth", 10},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

func TestUnquote(t *testing.T) {
	for _, value := range []string{"1", "true", "[]", `{"a":1}`, "0"} {
		if got, ok := Unquote([]byte(value)); ok {
			t.Errorf("Unquote(%s) = %q, want no string", value, got)
		}
	}
	plain := []byte(`"plain"`)
	got, ok := Unquote(plain)
	if !ok || string(got) != "plain" || &got[0] != &plain[1] || cap(got) != len(got) {
		t.Errorf("Unquote(%s) = %q, %v; want the same memory and no more", plain, got, ok)
	}
}

// TestStackSpills nests across the words of the stack, objects and arrays in turn in a
// pattern that no shift by a word repeats.
func TestStackSpills(t *testing.T) {
	for depth := 1; depth < 200; depth++ {
		var opening, closing []byte
		for i := range depth {
			if i%3 == 0 || i%7 == 0 {
				opening, closing = append(opening, `{"a":`...), append(closing, '}')
			} else {
				opening, closing = append(opening, '['), append(closing, ']')
			}
		}
		for i := range depth {
			right := closing[depth-1-i]
			data := string(opening) + "1" + reversed(closing)
			if i == 0 && Object([]byte(data), Limits{Depth: depth}, nil) != nil {
				t.Fatalf("depth %d: refused", depth)
			}
			wrong := []byte(data)
			wrong[len(opening)+1+i] = right ^ ']' ^ '}'
			if Object(wrong, Limits{Depth: math.MaxInt}, nil) == nil {
				t.Fatalf("depth %d: accepted a wrong end at %d", depth, i)
			}
		}
	}
}

func reversed(b []byte) string {
	var s strings.Builder
	for i := range b {
		s.WriteByte(b[len(b)-1-i])
	}
	return s.String()
}
