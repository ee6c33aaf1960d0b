package show

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
)

// A sensitive value is one by its path, before and after, and what may have changed of them is counted.
func TestSensitiveValuesAreCounted(t *testing.T) {
	t.Parallel()
	one := func(actions []string, before, after string) string {
		all := api.RunChanges{Changes: []api.RunChange{{Address: "a.b", Actions: actions,
			Before: json.RawMessage(before), After: json.RawMessage(after)}}}
		return Values(all, false, 10_000, func(s string) int { return len(s) })
	}
	secret := `{"(sensitive)":true}`
	for name, c := range map[string]struct{ got, want string }{
		"beside another": {one([]string{"update"}, `{"tag":"x","p":`+secret+`}`, `{"tag":"y","p":`+secret+`}`),
			"- update `a.b`\n  - `tag`: `\"x\"` → `\"y\"`\n  - sensitive, which may change too: 1\n"},
		"alone": {one([]string{"update"}, `{"password":`+secret+`}`, `{"password":`+secret+`}`),
			"- update `a.b`\n  - sensitive, which may change too: 1\n"},
		"new":       {one([]string{"create"}, `null`, `{"p":`+secret+`}`), "- create `a.b`\n  - `p`: `(sensitive)`\n"},
		"taken off": {one([]string{"update"}, `{"p":`+secret+`}`, `{"p":null}`), "  - `p`: `(sensitive)` → nothing\n"},
	} {
		if !strings.HasSuffix(c.got, c.want) || strings.Contains(c.got, "true") {
			t.Errorf("%s: %s", name, c.got)
		}
	}
}
