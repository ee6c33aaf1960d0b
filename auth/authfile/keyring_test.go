package authfile

import (
	"testing"
)

func TestKeyringFindsRules(t *testing.T) {
	text := everything() + "\n[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee.oidc.gh]\n" +
		"issuer = https://token.example.com/acme\naudience = holdfast\nclaims.sub = b\nrole = reader\n"
	r := mustParse(t, text).Keyring()
	if login, ok := r.Certificate("dns:ci.acme.example"); !ok || login.Org.ID != orgA || login.Rule.Name != "ci" {
		t.Errorf("certificate: %v %+v", ok, login)
	}
	if _, ok := r.Certificate("dns:other.example"); ok {
		t.Error("found a rule for a name that has none")
	}
	both := r.Tokens("https://token.example.com/acme", "holdfast")
	if len(both) != 2 || both[0].Org.ID != orgA || both[1].Org.ID != orgB || both[1].Rule.Name != "gh" {
		t.Errorf("tokens: %+v", both)
	}
	if others := r.Tokens("https://token.example.com/acme", "other"); len(others) > 0 {
		t.Errorf("tokens for another audience: %+v", others)
	}
	if own := r.Organizations[orgB].Tokens; len(own) != 1 || own[0].Name != "gh" {
		t.Errorf("tokens of one organization: %+v", own)
	}
}
