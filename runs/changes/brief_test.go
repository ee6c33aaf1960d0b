package changes

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestRedactChanges: the resources of states have no values, and the rest is as Redact has it.
func TestRedactChanges(t *testing.T) {
	state := `{"root_module":{"resources":[{"address":"t.a","depends_on":["t.b"],"values":{"x":"plain"},"sensitive_values":{}}]}}`
	s := sample{changes: update("t.a", `{"s":"correct-horse"}`, `{"s":"correct-horse","x":"see correct-horse"}`,
		`{"s":true}`),
		prior: state, planned: state}
	var out bytes.Buffer
	if err := s.parse(t, Options{}).RedactChanges(&out, strings.NewReader(s.String())); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Bytes()) || strings.Contains(out.String(), "correct-horse") ||
		strings.Contains(out.String(), "plain") ||
		strings.Count(out.String(), `"depends_on":["t.b"],"values":{}`) != 2 {
		t.Error(out.String())
	}
}
