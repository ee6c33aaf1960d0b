package oidc

import (
	"encoding/json"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/holdfast/holdfast/oidc/oidctest"
)

func TestKeysAreForTheirAlgorithm(t *testing.T) {
	for _, c := range []struct {
		kind       jose.SignatureAlgorithm // of the key
		named      string                  // the algorithm that the set gives it
		fits, nots []jose.SignatureAlgorithm
	}{
		{jose.RS256, "", []jose.SignatureAlgorithm{jose.RS256, jose.RS512, jose.PS256, jose.PS384},
			[]jose.SignatureAlgorithm{jose.ES256, jose.EdDSA, jose.HS256}},
		{jose.RS256, "RS256", []jose.SignatureAlgorithm{jose.RS256}, []jose.SignatureAlgorithm{jose.RS512, jose.PS256}},
		{jose.ES256, "", []jose.SignatureAlgorithm{jose.ES256},
			[]jose.SignatureAlgorithm{jose.ES384, jose.ES512, jose.RS256, jose.EdDSA, ""}},
		{jose.ES512, "", []jose.SignatureAlgorithm{jose.ES512}, []jose.SignatureAlgorithm{jose.ES256}},
		{jose.EdDSA, "", []jose.SignatureAlgorithm{jose.EdDSA},
			[]jose.SignatureAlgorithm{jose.ES256, jose.RS256, jose.HS256}},
	} {
		key := oidctest.NewKey(t, "k", c.kind).Public()
		key.Algorithm = c.named
		for want, algorithms := range map[bool][]jose.SignatureAlgorithm{true: c.fits, false: c.nots} {
			for _, algorithm := range algorithms {
				if _, got := (keySet{key}).find("k", algorithm); got != want {
					t.Errorf("a key for %s, named %q, for %s: %v, want %v", c.kind, c.named, algorithm, got, want)
				}
			}
		}
	}
}

// A set may hold more than we understand; what we don't must not spoil the rest.
func TestOtherKeysAreLeftOut(t *testing.T) {
	good := oidctest.NewKey(t, "good", jose.ES256)
	encryption := good.Public()
	encryption.Use = "enc"
	private := jose.JSONWebKey{Key: good.Private, KeyID: "private"}
	var parts []json.RawMessage
	for _, key := range []any{encryption, map[string]string{"kty": "new"}, map[string]string{"kty": "EC", "crv": "P-224"},
		private, 7, good.Public()} {
		text, err := json.Marshal(key)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, text)
	}
	text, _ := json.Marshal(map[string]any{"keys": parts})
	set, err := readKeySet(text)
	if err != nil || len(set) != 1 || set[0].KeyID != "good" {
		t.Errorf("%v, %v; want the good key", set, err)
	}
}
