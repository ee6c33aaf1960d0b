package jsonscan

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// FuzzWalk compares the judgement, the kinds and the pointers with those of jsontext,
// which by default refuses duplicate names and invalid UTF-8 too.
func FuzzWalk(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add([]byte(smallState))
	f.Add([]byte(`{"a":[{"b":{},"\u0062":[]}],"a":null}`))
	f.Add([]byte(`{"~":{"/":[[],{"":""}]},"\ud83d\ude00":-1.5e+3,"\u0000":"\\u0000"}`))
	f.Add([]byte(`{"a":1,"b":2,"c":{"a":1,"b":2,"c":{"a":1,"a":2}}}`))
	f.Add(manyNames())
	f.Fuzz(func(t *testing.T, data []byte) {
		var got []place
		err := Walk(data, Limits{}, func(v *Value) error {
			got = append(got, place{kind(v.Kind), v.Path.Pointer()})
			return checkText(v)
		})
		if _, stopped := errors.AsType[textError](err); stopped {
			t.Fatal(err)
		}
		if _, isNUL := errors.AsType[*NULError](err); isNUL {
			return // jsontext allows it; what is behind it was not looked at
		}
		want := jsontextPlaces(data)
		if (err == nil) != (want != nil) {
			t.Fatalf("Walk(%q): %v; jsontext takes it: %v", data, err, want != nil)
		}
		if err == nil && !cmp.Equal(got, want) {
			t.Fatalf("Walk(%q):\n%s", data, cmp.Diff(want, got))
		}
	})
}

// manyNames is an object with more names than the first table of names has room for: some of
// them want the same slot, however the hash is seeded.
func manyNames() []byte {
	object := []byte(`{"":0`)
	for i := range 100 {
		object = fmt.Appendf(object, `,"%d":0`, i)
	}
	return append(object, '}')
}

type place struct {
	Kind    jsontext.Kind
	Pointer string
}

func kind(k Kind) jsontext.Kind { return jsontext.Kind("{}[]\"0tn"[k]) }

type textError string

func (e textError) Error() string { return string(e) }

// checkText: a value's text is a value, and of that kind.
func checkText(v *Value) error {
	if v.Kind == BeginObject || v.Kind == BeginArray {
		if v.Text != nil {
			return textError("an open container has a text")
		}
		return nil
	}
	want := kind(v.Kind)
	switch v.Kind {
	case EndObject:
		want = '{'
	case EndArray:
		want = '['
	}
	text := jsontext.Value(v.Text)
	have := text.Kind()
	if have == 'f' {
		have = 't'
	}
	if have != want || !text.IsValid() || len(bytes.TrimSpace(v.Text)) != len(v.Text) {
		return textError("the text of " + v.Path.Pointer() + " is " + string(v.Text))
	}
	return nil
}

// jsontextPlaces is nil unless data is one object.
func jsontextPlaces(data []byte) []place {
	if !jsontext.Value(data).IsValid() || jsontext.Value(data).Kind() != '{' {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(data))
	var all []place
	for {
		token, err := d.ReadToken()
		if err != nil {
			return all
		}
		outer, length := d.StackIndex(d.StackDepth())
		if outer == '{' && length%2 == 1 && token.Kind() == '"' {
			continue // a name
		}
		k := token.Kind()
		if k == 'f' {
			k = 't'
		}
		pointer := string(d.StackPointer())
		if len(pointer) > maxPointer {
			pointer = strings.ToValidUTF8(pointer[:maxPointer], "")
			pointer = strings.TrimSuffix(pointer, "~") + "…"
		}
		all = append(all, place{k, pointer})
	}
}

// FuzzAppendQuote: what is quoted is JSON, and unquotes to the text.
func FuzzAppendQuote(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add("a\"\\\x00\n é\u2028\xff<")
	f.Fuzz(func(t *testing.T, text string) {
		quoted := AppendQuote(nil, text)
		got, err := jsontext.AppendUnquote(nil, quoted)
		if want := string([]rune(text)); err != nil || string(got) != want {
			t.Fatalf("AppendQuote(%q) = %s, which reads %q (%v)", text, quoted, got, err)
		}
	})
}
