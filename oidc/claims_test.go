package oidc

import (
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4/json"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// pattern is that of a rule with claims.<name> = text.
func pattern(t testing.TB, name, text string) keyring.ClaimPattern {
	t.Helper()
	doc, err := authfile.Parse("auth.cfg",
		"[11111111-2222-3333-4444-555555555555]\n[11111111-2222-3333-4444-555555555555.oidc.x]\n"+
			"issuer = https://issuer.example\naudience = a\nrole = reader\nclaims."+name+" = "+text+"\n")
	if err != nil {
		t.Fatal(err)
	}
	return doc.Organizations()[0].Tokens[0].Claims[0]
}

func TestClaimsMatch(t *testing.T) {
	const claims = `{
		"text": "acme/infra", "empty": "", "yes": true, "no": false, "n": 7, "big": 12345678901234567890, "exact": 1.50,
		"nothing": null, "list": ["a", 2, false, null, ["b"], {"c": "d"}], "none": [],
		"a.b": "flat", "a": {"b": "nested", "c": {"d": "deep"}}, "x.y": {"z": "mixed"}, "twice": {"k": "1", "k": "2"},
		"kubernetes.io/serviceaccount": "one"
	}`
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(claims), &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, pattern string
		want          bool
	}{
		{"text", "acme/infra", true}, {"text", "acme/*", true}, {"text", "*", true}, {"text", "*me*fra", true},
		{"text", "acme/infra*", true},
		{"text", "acme/infr", false}, {"text", "cme/infra", false}, {"text", "ACME/infra", false},
		{"text", "acme.infra", false},
		{"empty", "*", true}, {"empty", "?", false},
		{"yes", "true", true}, {"no", "false", true}, {"yes", "false", false}, {"n", "7", true}, {"n", "7.0", false},
		{"big", "12345678901234567890", true}, {"exact", "1.50", true},
		{"nothing", "*", false}, {"nothing", "null", false}, {"missing", "*", false},
		{"list", "a", true}, {"list", "2", true}, {"list", "false", true}, {"list", "b", false}, {"list", "d", false},
		{"list", "null", false}, {"none", "*", false},
		{"a.b", "flat", true}, {"a.b", "nested", false}, {"a.c.d", "deep", true}, {"a.c", "*", false},
		{"x.y.z", "mixed", true},
		{"twice.k", "*", false}, {"text.x", "*", false}, {"a.", "*", false}, {".a", "*", false},
		{"kubernetes.io/serviceaccount", "one", true},
	} {
		if got := matches(pattern(t, c.name, c.pattern), find(all, c.name)); got != c.want {
			t.Errorf("claims.%s = %s: %v, want %v", c.name, c.pattern, got, c.want)
		}
	}
}

// FuzzParse looks for a token that breaks the reader, or that it takes for more than its
// bounds allow: everything here comes from strangers.
func FuzzParse(f *testing.F) {
	fuzzseeds.Add(f)
	for _, text := range []string{
		"", "..", "eyJ..", "a.b.c", "{}", strings.Repeat("a", maxToken+1),
		"eyJhbGciOiJub25lIn0.eyJpc3MiOiJ4IiwiYXVkIjoieSJ9.",
		"eyJhbGciOiJFUzI1NiIsImtpZCI6ImsifQ.eyJpc3MiOiJ4IiwiYXVkIjoieSJ9.AAAA",
		"eyJhbGciOiJFUzI1NiIsImtpZCI6ImsifQ.eyJpc3MiOiJ4IiwiYXVkIjpbInkiLCJ6Il19.AAAA",
		"eyJhbGciOiJSUzI1NiIsImNyaXQiOlsiYjY0Il0sImI2NCI6ZmFsc2V9.eyJpc3MiOiJ4In0.AAAA",
		"eyJhbGciOiJFUzI1NiIsIng1YyI6WyJBQUFBIl19.eyJpc3MiOiJ4IiwiYXVkIjoieSIsImEiOnsiYiI6WzFdfX0.AAAA",
	} {
		f.Add(text)
	}
	key := pattern(f, "sub", "a*b*c")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parse(text)
		if err != nil {
			return
		}
		switch {
		case len(text) > maxToken, strings.Count(text, ".") != 2:
			t.Errorf("accepted %q", text)
		case !strings.ContainsAny(string(got.algorithm[:1]), "RPE"):
			t.Errorf("accepted the algorithm %q", got.algorithm)
		case got.issuer == "" || len(got.audience) == 0 || len(got.audience) > maxAudiences:
			t.Errorf("iss %q, aud %q", got.issuer, got.audience)
		}
		var all map[string]json.RawMessage
		if got.signed.UnsafeClaimsWithoutVerification(&all) == nil {
			_ = matches(key, find(all, "a.b.sub"))
		}
	})
}
