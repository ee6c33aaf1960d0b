package changes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// sample is a plan that a test puts together.
type sample struct {
	variables, declared, provider, planned, changes, drift, outputs, prior, more string
}

func (s sample) String() string {
	or := func(text, otherwise string) string {
		if text == "" {
			return otherwise
		}
		return text
	}
	return fmt.Sprintf(`{"format_version":"1.2","terraform_version":"1.12.6","variables":%s,"planned_values":%s,"resource_drift":[%s],"resource_changes":[%s],"output_changes":{%s},"prior_state":{"values":%s},"configuration":{"provider_config":%s,"root_module":{"variables":%s}},"errored":false%s}`,
		or(s.variables, "{}"), or(s.planned, "{}"), s.drift, s.changes, s.outputs, or(s.prior, "{}"), or(s.provider, "{}"),
		or(s.declared, "{}"), s.more)
}

func (s sample) parse(t testing.TB, options Options) *Plan {
	t.Helper()
	plan, err := Parse(strings.NewReader(s.String()), options)
	if err != nil {
		t.Fatalf("%v\n%s", err, s)
	}
	return plan
}

func (s sample) redacted(t testing.TB, options Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := s.parse(t, options).Redact(&out, strings.NewReader(s.String())); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Bytes()) {
		t.Fatalf("what is redacted is no JSON: %s", out.String())
	}
	return out.String()
}

// one is a change of one resource.
func one(address, actions, before, after, marks string) string {
	return fmt.Sprintf(`{"address":%q,"mode":"managed","type":"t","name":"n","provider_name":"p","change":{"actions":[%s],"before":%s,"after":%s,"after_unknown":{},"before_sensitive":%s,"after_sensitive":%s}}`,
		address, actions, before, after, marks, marks)
}

func update(address, before, after, marks string) string {
	return one(address, `"update"`, before, after, marks)
}
