package auth

import (
	"strings"
	"testing"
)

func TestPatternsMatch(t *testing.T) {
	cases := []struct {
		patterns string
		match    string // separated by spaces
		miss     string
	}{
		{"prod/*", "prod/a prod/a.b", "prod prod/a/b xprod/a prod/ dev/a"},
		{"prod/**", "prod/a prod/a/b/c", "prod prodx/a"},
		{"**", "a a/b a/b/c", ""},
		{"*", "a a.b", "a/b"},
		{"prod-*/net*work", "prod-eu/net-work prod-eu/netXwork", "prod-/network prod-eu/net/work"},
		{"**/network", "a/network a/b/network", "network a/networks"},
		{"a.c", "a.c", "abc"},
		{"prod/*, shared/network", "prod/a shared/network", "shared/networks shared prod"},
	}
	for _, test := range cases {
		p, err := ParsePatterns(test.patterns)
		if err != nil {
			t.Fatalf("%q: %v", test.patterns, err)
		}
		for name := range strings.FieldsSeq(test.match) {
			if !p.Match(name) {
				t.Errorf("%q does not match %q", test.patterns, name)
			}
		}
		for name := range strings.FieldsSeq(test.miss) {
			if p.Match(name) {
				t.Errorf("%q matches %q", test.patterns, name)
			}
		}
	}
}

func TestPatternsThatMatchNothingAreRefused(t *testing.T) {
	for _, text := range []string{"", ",", "a,", "/a", "a/", "a//b", ".", "../a", "a**", "a/**b", "a b", "a?", "[a]", "ä",
		"a\nb",
		strings.Repeat("a", 256), strings.Repeat("a,", 100) + "a"} {
		if _, err := ParsePatterns(text); err == nil {
			t.Errorf("%.40q was accepted", text)
		}
	}
}

func TestNoPatternsMatchEverything(t *testing.T) {
	var none *Patterns
	if !none.Match("a/b") || none.List() != nil || none.String() != "" {
		t.Error("a nil *Patterns does not stand for every state")
	}
}

// What patterns cover is covered whatever the stars stand for.
func TestPatternsCover(t *testing.T) {
	for _, test := range []struct {
		outer, inner string
		covers       bool
	}{
		{"", "", true}, {"", "prod/*", true}, {"prod/*", "", false},
		{"prod/*", "prod/*", true}, {"prod/*", "prod/x", true}, {"prod/*", "prod/x*", true}, {"prod/*", "prod/**", false},
		{"prod/*", "prod/x/y", false}, {"prod/x*", "prod/*", false}, {"prod/**", "prod/*/x", true},
		{"prod/**", "prod/a/**", true},
		{"prod/**", "prod/**", true}, {"prod/**", "**", false}, {"**", "prod/**", true}, {"**", "*", true},
		{"*/**", "prod/**", false},
		{"prod/*, dev/*", "prod/x, dev/*", true}, {"prod/*, dev/*", "prod/x, test/*", false}, {"prod/**/x", "prod/**", false},
		{"prod/**/x", "prod/*/x", true},
	} {
		if got := parsed(t, test.outer).Covers(parsed(t, test.inner)); got != test.covers {
			t.Errorf("%q covers %q: %t", test.outer, test.inner, got)
		}
	}
}

func parsed(t *testing.T, text string) *Patterns {
	t.Helper()
	if text == "" {
		return nil
	}
	p, err := ParsePatterns(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
