package jsonscan

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// FuzzObject compares the judgement and the reported members with those of jsontext.
func FuzzObject(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add([]byte(smallState))
	f.Add([]byte(`{"\ud83d\ude00":[[[{"a":[]}]]],"b":-1.5e+3,"b":"\\"} `))
	f.Add([]byte(`{"a":` + "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["))
	f.Fuzz(func(t *testing.T, data []byte) {
		compare(t, data)
		var got [][2][]byte
		err := Object(data, Limits{}, func(key, value []byte) error {
			got = append(got, [2][]byte{key, value})
			return nil
		})
		if err != nil {
			return
		}
		if want := jsontextMembers(t, data); !cmp.Equal(got, want) {
			t.Fatalf("members of %q: %q, want %q", data, got, want)
		}
		for _, member := range got {
			checkUnquote(t, member[1])
		}
	})
}

// jsontextMembers reads the members of a valid object.
func jsontextMembers(t *testing.T, data []byte) [][2][]byte {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		t.Fatal(err)
	}
	var all [][2][]byte
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			t.Fatal(err)
		}
		key := []byte(name.String())
		value, err := d.ReadValue()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, [2][]byte{key, bytes.Clone(value)})
	}
	return all
}

// checkUnquote compares Unquote of a checked value with jsontext.
func checkUnquote(t *testing.T, value []byte) {
	got, ok := Unquote(value)
	if isText := value[0] == '"'; ok != isText {
		t.Fatalf("Unquote(%q): %v", value, ok)
	}
	if !ok {
		return
	}
	want, err := jsontext.AppendUnquote(nil, value)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("Unquote(%q) = %q, want %q (%v)", value, got, want, err)
	}
}
