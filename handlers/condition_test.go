package handlers

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
	"github.com/holdfast/holdfast/state"
)

func TestReadCondition(t *testing.T) {
	var a, b state.Digest
	a[0], b[0] = 1, 2
	tagOf := func(d state.Digest) string { return `"` + d.String() + `"` }
	some := func(d ...state.Digest) *state.Contents { return &state.Contents{Digests: d} }
	type want struct{ is, not *state.Contents } // both nil: refused
	for text, want := range map[string]want{
		"*":                                  {&state.Contents{Any: true}, &state.Contents{Any: true}},
		"\t* ":                               {&state.Contents{Any: true}, &state.Contents{Any: true}},
		tagOf(a):                             {some(a), some(a)},
		packedTag(tagOf(a)):                  {some(a), some(a)},
		"W/" + tagOf(a):                      {some(), some(a)}, // weak tags are never strongly equal
		tagOf(a) + ", W/" + tagOf(b):         {some(a), some(a, b)},
		" , " + tagOf(a) + " ,," + tagOf(b):  {some(a, b), some(a, b)},
		tagOf(a) + "," + packedTag(tagOf(a)): {some(a, a), some(a, a)},
		`"someone's"`:                        {some(), some()},
		`"a,b", ` + tagOf(a):                 {some(a), some(a)}, // a comma may be part of a tag
		`"W/x"`:                              {some(), some()},
		`""`:                                 {some(), some()},
		`"é"`:                                {some(), some()},
		strings.ToUpper(tagOf(state.Digest{0xab})): {some(), some()},
		`"` + a.String() + `-gzip-gzip"`:           {some(), some()},
		"":                                         {},
		" ,":                                       {},
		a.String():                                 {},
		tagOf(a)[1:]:                               {},
		tagOf(a)[:65]:                              {},
		"w/" + tagOf(a):                            {},
		"W/ " + tagOf(a):                           {},
		"W/*":                                      {},
		"*, " + tagOf(a):                           {},
		tagOf(a) + ", *":                           {},
		"*, *":                                     {},
		tagOf(a) + " " + tagOf(b):                  {},
		tagOf(a) + "x":                             {},
		"\"a\tb\"":                                 {},
		`"a b"`:                                    {},
		"\"\x7f\"":                                 {},
	} {
		for name, contents := range map[string]*state.Contents{"If-Match": want.is, "If-None-Match": want.not} {
			got, err := readCondition(http.Header{name: {text}})
			if (err != nil) != (contents == nil) {
				t.Errorf("%s: %q: %v", name, text, err)
				continue
			}
			wanted := state.Condition{Is: contents}
			if name == "If-None-Match" {
				wanted = state.Condition{Not: contents}
			}
			if contents == nil {
				wanted = state.Condition{}
			}
			if diff := cmp.Diff(wanted, got); diff != "" {
				t.Errorf("%s: %q: %s", name, text, diff)
			}
		}
	}
	both, err := readCondition(http.Header{"If-Match": {tagOf(a), tagOf(b)}, "If-None-Match": {"*"}})
	if diff := cmp.Diff(state.Condition{Is: some(a, b), Not: &state.Contents{Any: true}}, both); diff != "" || err != nil {
		t.Errorf("in several lines: %v\n%s", err, diff)
	}
	if none, err := readCondition(http.Header{}); err != nil || none != (state.Condition{}) {
		t.Errorf("no header: %+v, %v", none, err)
	}
}

// FuzzTags: what is taken is a list of tags that, written again, is the same list.
func FuzzTags(f *testing.F) {
	fuzzseeds.Add(f)
	for _, seed := range []string{`"a"`, `W/"a", "b,c"`, `,"",`, `"a" "b"`, `W/`, `*`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tags, ok := parseTags(text)
		if !ok {
			return
		}
		var written []string
		for _, tag := range tags {
			if strings.ContainsAny(tag.text, "\" \t\r\n") {
				t.Fatalf("%q: a tag is %q", text, tag.text)
			}
			one := `"` + tag.text + `"`
			if tag.weak {
				one = "W/" + one
			}
			written = append(written, one)
		}
		again, ok := parseTags(strings.Join(written, ", "))
		if !ok || len(again) != len(tags) {
			t.Fatalf("%q: %v, then %v", text, tags, again)
		}
		for i := range tags {
			if again[i] != tags[i] {
				t.Fatalf("%q: %v, then %v", text, tags, again)
			}
		}
	})
}
