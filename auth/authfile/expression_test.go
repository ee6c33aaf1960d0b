package authfile

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// Patterns that nobody asks for cost little more than their text: an auth.cfg has room for
// some hundred thousand of them.
func TestPatternsAreLightUntilTheyMatch(t *testing.T) {
	const sections = 1000
	var text strings.Builder
	fmt.Fprintf(&text, "[%s]\n", idA)
	for n := range sections {
		fmt.Fprintf(&text, "[%s.oidc.r%d]\nissuer = https://ci.example\naudience = a\nclaims.repository = "+
			"acme/app-%d-*\nrole = writer\nstates = app-%d/*, shared/**\n", idA, n, n, n)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := mustParse(t, text.String())
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / sections; each > 8<<10 {
		t.Errorf("a section with three patterns took %d bytes", each)
	}
	rule := d.orgs[0].Tokens[sections-1]
	if !rule.Claims[0].Match("acme/app-999-x") || rule.Claims[0].Match("acme/app-998-x") ||
		!rule.States.Match("app-999/a") || rule.States.Match("app-998/a") {
		t.Error("the patterns of the last section match something else")
	}
}
