package oidc

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

const (
	// maxKeys is how many keys an issuer may have; real ones have two to ten.
	maxKeys = 100
	// RSA keys of fewer bits are too weak, of more too slow.
	minRSA, maxRSA = 2048, 8192
)

// keySet is an issuer's public keys. It never changes.
type keySet []jose.JSONWebKey

// readKeySet reads a JSON Web Key Set. What is not a public key for signatures is left
// out, as RFC 7517 asks: sets may hold other things too.
func readKeySet(text []byte) (keySet, error) {
	var listed struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &listed); err != nil {
		return nil, errors.New("the key set is not JSON")
	}
	if len(listed.Keys) > maxKeys {
		return nil, fmt.Errorf("the key set has %d keys, more than %d", len(listed.Keys), maxKeys)
	}
	var set keySet
	for _, one := range listed.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(one, &key) == nil && usable(key) {
			set = append(set, key)
		}
	}
	if len(set) == 0 {
		return nil, errors.New("the key set has no key that can be used")
	}
	return set, nil
}

func usable(key jose.JSONWebKey) bool {
	return (key.Use == "" || key.Use == "sig") &&
		slices.ContainsFunc(algorithms(), func(a jose.SignatureAlgorithm) bool { return fits(key, a) })
}

// find returns the key of this ID for an algorithm. Without an ID it is the only key that
// fits, if only one does.
func (s keySet) find(id string, algorithm jose.SignatureAlgorithm) (jose.JSONWebKey, bool) {
	var found []jose.JSONWebKey
	for _, key := range s {
		if (id == "" || key.KeyID == id) && fits(key, algorithm) {
			found = append(found, key)
		}
	}
	if len(found) != 1 {
		return jose.JSONWebKey{}, false
	}
	return found[0], true
}

// fits reports whether a key is for an algorithm: a public key, of the right kind.
func fits(key jose.JSONWebKey, algorithm jose.SignatureAlgorithm) bool {
	if key.Algorithm != "" && key.Algorithm != string(algorithm) {
		return false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		bits := public.N.BitLen()
		return (algorithm[0] == 'R' || algorithm[0] == 'P') && bits >= minRSA && bits <= maxRSA
	case *ecdsa.PublicKey:
		return algorithm == curveAlgorithm(public.Curve.Params().BitSize)
	case ed25519.PublicKey:
		return algorithm == jose.EdDSA
	}
	return false
}

func curveAlgorithm(bits int) jose.SignatureAlgorithm {
	switch bits {
	case 256:
		return jose.ES256
	case 384:
		return jose.ES384
	case 521:
		return jose.ES512
	}
	return ""
}
