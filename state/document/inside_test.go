package document

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// held is a state of one instance with these attributes.
func held(t *testing.T, attributes map[string]any, outputs map[string]any) string {
	t.Helper()
	all := object{}
	for name, value := range outputs {
		all[name] = object{"value": value, "type": "dynamic"}
	}
	raw, err := json.Marshal(object{"version": 4, "outputs": all, "resources": []any{object{
		"mode": "managed", "type": "t", "name": "a", "provider": `provider["r/h/aws"]`,
		"instances": []any{object{"attributes": attributes}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestTextOfWhatIsInside(t *testing.T) {
	const policy = `{"Version":"2012-10-17","Statement":[{"Sid":"A","Action":"s3:*"},{"Sid":"B","Action":["s3:Get*","s3:List*"]}]}`
	const script = "#!/bin/sh\nset -e\none\ntwo\nthree\nfour\n"
	a := held(t, object{
		"policy": policy, "user_data": script, "same": `{"a": 1}`, "note": "one",
		"cidrs":  []string{"10.0.0.0/8", "10.1.0.0/16", "10.2.0.0/16"},
		"nested": `{"env":"{\"LEVEL\":\"info\"}"}`,
	}, object{"subnets": []string{"a", "b", "c"}, "config": object{"region": "eu", "size": 1}, "policy": policy,
		"plain": "x"})
	b := held(t, object{
		"policy":    strings.NewReplacer(`{"Sid":"A","Action":"s3:*"},`, "", `"s3:List*"`, `"s3:Put*"`).Replace(policy),
		"user_data": strings.Replace(script, "three", "drei", 1)[:len(script)-2],
		"same":      `{"a":1}`, "note": "two", "cidrs": []string{"10.1.0.0/16", "10.2.0.0/16"},
		"nested": `{"env":"{\"LEVEL\":\"debug\"}"}`,
	}, object{"subnets": []string{"b", "c"}, "config": object{"region": "us", "size": 1},
		"policy": strings.Replace(policy, "s3:*", "s3:Get*", 1), "plain": "y"})
	want := `  ~ t.a {
      - cidrs[0] = "10.0.0.0/8"
      ~ nested (JSON)
          ~ env (JSON)
              ~ LEVEL = "info" -> "debug"
      ~ note = "one" -> "two"
      ~ policy (JSON)
          - Statement[0] = {"Sid":"A","Action":"s3:*"}
          ~ Statement[0].Action[1] = "s3:List*" -> "s3:Put*"
      ~ same (the same JSON, written differently)
      ~ user_data =
            # (1 more alike)
            set -e
            one
            two
          - three
          + drei
            four
            # the line break at the end is gone
    }

Outputs:
  ~ config.region = "eu" -> "us"
  ~ plain = "x" -> "y"
  ~ policy (JSON)
      ~ Statement[0].Action = "s3:*" -> "s3:Get*"
  - subnets[0] = "a"

0 added, 1 changed, 0 removed, 0 moved; 4 outputs changed.
`
	if diff := cmp.Diff(want, rendered(t, a, b, Options{}, nil)); diff != "" {
		t.Error(diff)
	}
}

// Programs find the values whole, and beside them what differs inside.
func TestJSONOfWhatIsInside(t *testing.T) {
	a := held(t, object{"policy": `{"a":[1,2]}`}, object{"o": []int{1, 2}, "p": "x"})
	b := held(t, object{"policy": `{"a":[2]}`}, object{"o": []int{2}, "p": "y"})
	d := Compare(parse(t, []byte(a)), parse(t, []byte(b)), Options{})
	have, err := json.Marshal([]any{d.Resources[0].Attributes, d.Outputs})
	want := `[[{"path":["policy"],"before":"{\"a\":[1,2]}","after":"{\"a\":[2]}","inside":[{"path":["a",0],"before":1}]}],` +
		`[{"action":"changed","name":"o","before":{"value":[1,2],"type":"dynamic"},"after":{"value":[2],"type":"dynamic"},"changes":[{"path":[0],"before":1}]},` +
		`{"action":"changed","name":"p","before":{"value":"x","type":"dynamic"},"after":{"value":"y","type":"dynamic"}}]]`
	if diff := cmp.Diff(want, string(have)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// What is hidden is not looked into.
func TestNothingIsShownInsideOfWhatIsHidden(t *testing.T) {
	body := func(password string) []byte {
		text, _ := json.Marshal(`{"password":"` + password + "\"}\n\n")
		return one(`{"attributes":{"a":` + string(text) + `},"sensitive_attributes":[` + pathA + `]}`)
	}
	for _, pair := range [][2]string{{"hunter2", "hunter3"}, {"hunter2\\nx", "hunter3\\nx"}} {
		d := Compare(parse(t, body(pair[0])), parse(t, body(pair[1])), Options{})
		raw, _ := json.Marshal(d)
		var text strings.Builder
		if err := d.WriteText(&text, nil); err != nil || strings.Contains(string(raw)+text.String(), "hunter") ||
			len(d.Resources) != 1 {
			t.Errorf("%s\n%s, %v", raw, &text, err)
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	lines := func(change string, n int) string {
		return held(t, object{"user_data": strings.Repeat("line"+change+"\n", n)}, nil)
	}
	text := rendered(t, lines("a", 1000), lines("b", 1000), Options{}, nil)
	if n := strings.Count(text, "\n"); n > maxShownLines+10 || !strings.Contains(text, "# and 1600 more lines\n") {
		t.Errorf("%d lines\n%s", n, text)
	}
	// One that has more lines than are compared stands in one line.
	if text := rendered(t, lines("a", maxLines+1), lines("b", maxLines+1), Options{}, nil); strings.Count(text, "\n") > 5 {
		t.Errorf("%d lines", strings.Count(text, "\n"))
	}
}
