package oidc_test

import (
	"os"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/auth/authfile"
)

// sections returns the parts of a text that are sections of an auth.cfg, without what
// stands before each of their lines.
func sections(text, before string) string {
	var all strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		line, ok := strings.CutPrefix(line, before)
		inside = ok && strings.TrimSpace(line) != "" &&
			(inside || strings.HasPrefix(line, "[") && strings.Contains(line, ".oidc."))
		if inside {
			all.WriteString(line)
		}
	}
	return all.String()
}

func TestRulesInTheDocumentsAreAccepted(t *testing.T) {
	for file, c := range map[string]struct {
		before string
		rules  int
	}{"../docs/operating-oidc.md": {"    ", 2}, "../auth.cfg.example": {"; ", 1}} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := authfile.Parse(file, "[11111111-2222-3333-4444-555555555555]\n"+sections(string(text), c.before))
		if err != nil {
			t.Error(err)
			continue
		}
		if n := len(doc.Organizations()[0].Tokens); n != c.rules {
			t.Errorf("%s has %d rules, want %d", file, n, c.rules)
		}
	}
}
