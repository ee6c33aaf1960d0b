package oidc

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"
)

// maxToken is how long a token may be, in bytes: those of CI systems have one to three
// thousand.
const maxToken = 8 << 10

// maxAudiences is how many audiences a token may have: each is looked up in the rules.
const maxAudiences = 16

// algorithms returns the signatures that are accepted: with a key pair, all of them. One
// with a shared secret would take the issuer's public key for the secret.
func algorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{
		jose.RS256, jose.RS384, jose.RS512,
		jose.PS256, jose.PS384, jose.PS512,
		jose.ES256, jose.ES384, jose.ES512,
		jose.EdDSA,
	}
}

// errForged says that a token was not signed with the key that it names, or that what was
// signed makes no sense.
var errForged = errors.New("it was not signed with its issuer's key, or its claims can't be read")

// token is what a caller sent, in parts. Nothing in it may be believed before verify; until
// then it only says whose keys to ask for, and whether that is worth it.
type token struct {
	signed    *jwt.JSONWebToken
	algorithm jose.SignatureAlgorithm
	keyID     string // may be empty

	issuer   string // never empty
	audience []string
}

// parse takes a token apart. Its errors don't quote it.
func parse(raw string) (token, error) {
	if len(raw) > maxToken {
		return token{}, fmt.Errorf("it is longer than %d bytes", maxToken)
	}
	signed, err := jwt.ParseSigned(raw, algorithms())
	if err != nil {
		return token{}, explainParse(err)
	}
	var c jwt.Claims
	if err := signed.UnsafeClaimsWithoutVerification(&c); err != nil {
		return token{}, errors.New("its claims can't be read")
	}
	switch {
	case c.Issuer == "":
		return token{}, errors.New("it has no iss")
	case len(c.Audience) == 0 || len(c.Audience) > maxAudiences:
		return token{}, fmt.Errorf("it needs an aud, and at most %d", maxAudiences)
	}
	header := signed.Headers[0]
	return token{signed, jose.SignatureAlgorithm(header.Algorithm), header.KeyID, c.Issuer, c.Audience}, nil
}

func explainParse(err error) error {
	if _, ok := errors.AsType[*jose.ErrUnexpectedSignatureAlgorithm](err); !ok {
		return errors.New("it is not a signed JSON Web Token")
	}
	var names []string
	for _, a := range algorithms() {
		names = append(names, string(a))
	}
	return errors.New("its alg is none of " + strings.Join(names, ", "))
}

// verify returns the token's claims when the key signed them.
func (t token) verify(key jose.JSONWebKey) (claims, error) {
	var c claims
	// The key itself is given, without its ID: what the header says of keys counts for
	// nothing any more.
	if err := t.signed.Claims(key.Key, &c.registered, &c.all); err != nil {
		return claims{}, errForged
	}
	return c, nil
}

// claims are what an issuer says of a token's bearer.
type claims struct {
	registered jwt.Claims
	all        map[string]json.RawMessage
}
