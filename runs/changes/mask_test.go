package changes

import (
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/mask"
)

func TestMarksHide(t *testing.T) {
	for name, test := range map[string]struct{ value, marks, want string }{
		"nothing":                {`{"a":"public"}`, `{}`, `{"a":"public"}`},
		"false":                  {`{"a":"public"}`, `false`, `{"a":"public"}`},
		"all":                    {`{"a":"x"}`, `true`, `*`},
		"a member":               {`{"a":"x","b":1}`, `{"a":true}`, `{"a":*,"b":1}`},
		"a boolean":              {`{"a":true}`, `{"a":true}`, `{"a":*}`},
		"an empty text":          {`{"a":""}`, `{"a":true}`, `{"a":*}`},
		"null":                   {`{"a":null}`, `{"a":true}`, `{"a":null}`},
		"a container":            {`{"a":{"b":["x"]}}`, `{"a":true}`, `{"a":*}`},
		"in a list":              {`{"a":["x","y"]}`, `{"a":[false,true]}`, `{"a":["x",*]}`},
		"in a block":             {`{"a":[{"b":"x","c":1}]}`, `{"a":[{"b":true}]}`, `{"a":[{"b":*,"c":1}]}`},
		"a shorter list":         {`{"a":["x","y"]}`, `{"a":[true]}`, `{"a":[*,"y"]}`},
		"a list's for an object": {`{"a":{"b":"x"}}`, `{"a":[true]}`, `{"a":{"b":*}}`},
		"an object's for a list": {`{"a":["x"]}`, `{"a":{"b":true}}`, `{"a":[*]}`},
		"an object's for a text": {`{"a":"x"}`, `{"a":{"b":true}}`, `{"a":*}`},
		"an escaped name":        {`{"\u0061":"x"}`, `{"a":true}`, `{"a":*}`},
		"the same elsewhere": {`{"a":"abcd","b":"abcd","c":"abc","d":"x abcd"}`, `{"a":true}`,
			`{"a":*,"b":*,"c":"abc","d":"x abcd"}`},
		"within another": {`{"a":"abcdefgh","b":"x-abcdefgh-y","c":"abcdefg"}`, `{"a":true}`,
			`{"a":*,"b":*,"c":"abcdefg"}`},
		"escaped elsewhere": {`{"a":"ab\ncd","b":"ab\u000acd"}`, `{"a":true}`, `{"a":*,"b":*}`},
		"a number elsewhere": {`{"a":12345,"b":[12345],"c":"12345","d":123}`, `{"a":true}`,
			`{"a":*,"b":[*],"c":*,"d":123}`},
		"with space around": {`{"a":" abcd\n","b":"abcd"}`, `{"a":true}`, `{"a":*,"b":*}`},
		"as a name":         {`{"a":{"abcd":1},"b":{"x":{"abcd":1,"y":2}}}`, `{"a":true}`, `{"a":*,"b":{"x":*}}`},
	} {
		t.Run(name, func(t *testing.T) {
			plan := sample{changes: update("t.n", `{"other":0}`, test.value, test.marks)}.parse(t, Options{})
			if want := strings.ReplaceAll(test.want, "*", Masked); string(plan.Changes[0].After) != want {
				t.Errorf("%s\nwant %s", plan.Changes[0].After, want)
			}
		})
	}
}

// What the log masks is hidden in changes and in what Redact writes: secrets that the plan knows nothing of, and
// encodings of those that it does.
func TestWhatTheLogMasksIsHidden(t *testing.T) {
	s := sample{
		variables: `{"pw":{"value":"hunter2-hunter2"}}`, declared: `{"pw":{"sensitive":true}}`,
		changes: update(`t.n["acme-prod-1"]`, `{}`, `{"a":"x acme-prod-1","b":"YWNtZS1wcm9kLTE=","c":"aHVudGVyMi1odW50ZXIy","d":"plain"}`, `{}`),
		outputs: `"o":{"actions":["create"],"before":null,"after":"acme%2Dprod-1 acme-prod-1","after_unknown":false,"before_sensitive":false,"after_sensitive":false}`,
	}
	options := Options{Secrets: mask.New([]string{"acme-prod-1"})}
	plan := s.parse(t, options)
	want := strings.ReplaceAll(`{"a":*,"b":*,"c":*,"d":"plain"}`, "*", Masked)
	if got := plan.Changes[0]; string(got.After) != want || strings.Contains(got.Address, "acme") {
		t.Errorf("%s of %s\nwant %s", got.After, got.Address, want)
	}
	if got := plan.Outputs[0]; string(got.After) != Masked {
		t.Errorf("the output is %s", got.After)
	}
	redacted := s.redacted(t, options)
	if strings.Contains(redacted, "YWNtZS1") || strings.Contains(redacted, "aHVudGVy") {
		t.Errorf("redacted it is %s", redacted)
	}
	if s.parse(t, Options{}).Digest(keyed) != plan.Digest(keyed) {
		t.Error("what is hidden changes the digest")
	}
}

// TestMarksOfBeforeAndAfter: what stops being sensitive is hidden on both sides, as it is where
// it becomes so.
func TestMarksOfBeforeAndAfter(t *testing.T) {
	change := strings.Replace(update("t.n", `{"a":"xy"}`, `{"a":"z"}`, `{"a":true}`), `"after_sensitive":{"a":true}`,
		`"after_sensitive":{}`, 1)
	c := sample{changes: change}.parse(t, Options{}).Changes[0]
	if want := `{"a":` + Masked + `}`; string(c.Before) != want || string(c.After) != want {
		t.Errorf("%s, %s", c.Before, c.After)
	}
}

// TestScopes: how far around its mark a value is hidden.
func TestScopes(t *testing.T) {
	other := func(text string) string { return update("t.other", `null`, `{"v":"`+text+`"}`, `{}`) }
	for name, test := range map[string]struct {
		sample sample
		hidden bool
	}{
		"a resource's short value": {sample{changes: update("t.n", `null`, `{"a":"eu-west-1"}`, `{"a":true}`) + "," +
			other("eu-west-1")}, false},
		"a resource's long value": {sample{changes: update("t.n", `null`, `{"a":"correct-horse"}`, `{"a":true}`) + "," +
			other("a correct-horse!")}, true},
		"a variable's value": {sample{variables: `{"v":{"value":"abcd"}}`, declared: `{"v":{"sensitive":true}}`,
			changes: other("abcd")}, true},
		"a variable's inner value": {sample{variables: `{"v":{"value":{"x":["abcd"]}}}`, declared: `{"v":{"sensitive":true}}`,
			changes: other("abcd")}, true},
		"an open variable's value": {sample{variables: `{"v":{"value":"abcd"}}`, declared: `{"v":{}}`,
			changes: other("abcd")}, false},
		"the caller's variable": {sample{variables: `{"w":{"value":"abcd"}}`, changes: other("abcd")}, true},
		"a default": {sample{declared: `{"v":{"sensitive":true,"default":"abcd"}}`, changes: other("abcd")},
			true},
		"an output's value": {sample{outputs: `"o":{"actions":["create"],"before":null,"after":"abcd","before_sensitive":true,"after_sensitive":true}`, changes: other("abcd")}, true},
		"a state's output": {sample{prior: `{"outputs":{"o":{"sensitive":true,"value":"abcd"}}}`,
			changes: other("abcd")}, true},
		"a state's resource": {sample{prior: `{"root_module":{"child_modules":[{"resources":[{"address":"d","values":{"a":"correct-horse"},"sensitive_values":{"a":true}}]}]}}`, changes: other("correct-horse")}, true},
		"a planned resource": {sample{planned: `{"root_module":{"resources":[{"address":"d","values":{"a":"correct-horse"},"sensitive_values":{"a":true}}]}}`, changes: other("correct-horse")}, true},
		"a provider's password": {sample{provider: `{"x":{"name":"x","expressions":{"password":{"constant_value":"abcd"}}}}`,
			changes: other("abcd")}, true},
		"a provider's inner key": {sample{provider: `{"x":{"expressions":{"auth":[{"id":{"constant_value":"abcd"}}]}}}`,
			changes: other("abcd")}, true},
		"a provider's region": {sample{provider: `{"x":{"expressions":{"region":{"constant_value":"abcd"}}}}`,
			changes: other("abcd")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			plan := test.sample.parse(t, Options{Sensitive: []string{"w"}})
			var got string
			for _, c := range plan.Changes {
				if c.Address == "t.other" {
					got = string(c.After)
				}
			}
			if hidden := got == `{"v":`+Masked+`}`; hidden != test.hidden {
				t.Errorf("%s", got)
			}
		})
	}
}

// TestRedact has a value in every place that shows one, and wants none of them.
func TestRedact(t *testing.T) {
	const secret = "correct-horse-battery"
	marked := `{"a":"` + secret + `","b":"x ` + secret + `","keep":"kept"}`
	resource := `{"address":"t.n","type":"t","name":"n","values":` + marked + `,"sensitive_values":{"a":true}}`
	values := `{"outputs":{"o":{"sensitive":true,"value":"` + secret + `"}},"root_module":{"resources":[` + resource +
		`],"child_modules":[{"address":"module.m","resources":[` + resource + `]}]}}`
	s := sample{
		variables: `{"v":{"value":"` + secret + `"},"u":{"value":"kept"}}`,
		declared: `{"v":{"sensitive":true,"default":"` + secret + `","description":"like ` + secret +
			`"},"name":{"default":"kept"}},"resources":[{"address":"t.n","expressions":{"type":{"constant_value":"` + secret +
			`"}}}],"module_calls":{"m":{"source":"git::https://` + secret +
			`@host/x","module":{"variables":{"w":{"sensitive":true,"default":"another"}}}}}`,
		provider: `{"x":{"name":"x","expressions":{"token":{"constant_value":"tok"},"auth":[{"user":{"constant_value":"usr"}}],"region":{"constant_value":"kept"}}}}`,
		planned:  values, prior: values,
		changes: update("t.n", marked, marked, `{"a":true}`),
		drift:   update("t.n", marked, marked, `{"a":true}`),
		outputs: `"o":{"actions":["update"],"before":"` + secret + `","after":"` + secret +
			`","before_sensitive":true,"after_sensitive":true}`,
		more: `,"checks":[{"address":{"to_display":"check.c"},"instances":[{"problems":[{"message":"it is ` + secret +
			`"}]}]}],"unheard_of":{"x":["` + secret + `"]},"null_of":null`,
	}
	got := s.redacted(t, Options{})
	for _, gone := range []string{secret, `"tok"`, `"usr"`, "another"} {
		if i := strings.Index(got, gone); i >= 0 {
			t.Errorf("%q is there: %s", gone, got[max(0, i-150):])
		}
	}
	if strings.Count(got, `"kept"`) != strings.Count(s.String(), `"kept"`) ||
		strings.Count(got, `"t.n"`) != strings.Count(s.String(), `"t.n"`) {
		t.Errorf("something else is gone: %s", got)
	}
}

func TestRedactWantsTheSameBytes(t *testing.T) {
	s := sample{changes: update("t.n", `null`, `{}`, `{}`)}
	other := strings.Replace(s.String(), "1.12.6", "1.12.7", 1)
	if err := s.parse(t, Options{}).Redact(discard{}, strings.NewReader(other)); err == nil {
		t.Error("other bytes are redacted")
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
