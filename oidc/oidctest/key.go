package oidctest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// Key signs tokens.
type Key struct {
	ID        string
	Algorithm jose.SignatureAlgorithm
	Private   crypto.Signer
}

// NewKey returns a new key of the kind that the algorithm needs.
func NewKey(t testing.TB, id string, algorithm jose.SignatureAlgorithm) Key {
	t.Helper()
	private, err := generate(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return Key{id, algorithm, private}
}

func generate(algorithm jose.SignatureAlgorithm) (crypto.Signer, error) {
	switch algorithm {
	case jose.EdDSA:
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return private, err
	case jose.ES256:
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case jose.ES384:
		return ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case jose.ES512:
		return ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	}
	return rsa.GenerateKey(rand.Reader, 2048)
}

// Public returns the key as an issuer lists it.
func (k Key) Public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: k.Private.Public(), KeyID: k.ID, Algorithm: string(k.Algorithm), Use: "sig"}
}

// Sign returns a token of claims, which may be anything that JSON has.
func (k Key) Sign(t testing.TB, claims any) string {
	t.Helper()
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return k.SignText(t, string(text), nil)
}

// SignText returns a token whose payload is text, whatever that is, and whose header has
// these fields beside alg, typ and kid.
func (k Key) SignText(t testing.TB, text string, header map[jose.HeaderKey]any) string {
	t.Helper()
	token, err := k.signText(text, header)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// sign is Sign for the issuer itself.
func (k Key) sign(claims any) (string, error) {
	text, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	return k.signText(string(text), nil)
}

func (k Key) signText(text string, header map[jose.HeaderKey]any) (string, error) {
	options := (&jose.SignerOptions{ExtraHeaders: header}).WithType("JWT")
	if k.ID != "" {
		options = options.WithHeader("kid", k.ID)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: k.Algorithm, Key: k.Private}, options)
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign([]byte(text))
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}
