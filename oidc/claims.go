package oidc

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/holdfast/holdfast/auth/keyring"
)

// skew is by how much an issuer's clock and ours may differ.
const skew = time.Minute

// maxSubject is how long a sub may be, in bytes: it goes into logs and records.
const maxSubject = 1024

// expires returns when the token is no longer good: at its exp or, where the rule has
// tokens count for longer than that, so long after it was issued.
func (c claims) expires(rule keyring.TokenRule) time.Time {
	exp := c.registered.Expiry.Time()
	if issued := c.registered.IssuedAt; rule.ValidFor > 0 && issued != nil && issued.Time().Add(rule.ValidFor).After(exp) {
		return issued.Time().Add(rule.ValidFor)
	}
	return exp
}

// check returns why the token is not good now.
func (c claims) check(now time.Time, rule keyring.TokenRule) error {
	r := c.registered
	if r.Expiry == nil {
		return errors.New("it has no exp")
	}
	expires := c.expires(rule)
	if expires.UTC().Year() > 9999 {
		return errors.New("its exp is beyond the year 9999") // no answer could show it
	}
	r.Expiry = jwt.NewNumericDate(expires)
	if r.Subject == "" || len(r.Subject) > maxSubject {
		return fmt.Errorf("it has no sub of 1 to %d bytes", maxSubject)
	}
	switch err := r.ValidateWithLeeway(jwt.Expected{Time: now}, skew); {
	case errors.Is(err, jwt.ErrExpired):
		return fmt.Errorf("its exp is past: it was good until %s", stamp(r.Expiry))
	case errors.Is(err, jwt.ErrNotValidYet):
		return fmt.Errorf("its nbf is to come: it is good from %s on", stamp(r.NotBefore))
	case errors.Is(err, jwt.ErrIssuedInTheFuture):
		return fmt.Errorf("its iat is to come: %s", stamp(r.IssuedAt))
	default:
		return err
	}
}

func stamp(at *jwt.NumericDate) string { return at.Time().UTC().Format(time.RFC3339) }

// unmet returns the name of the first claim that is not as the rule has it.
func (c claims) unmet(rule keyring.TokenRule) (name string, found bool) {
	for _, pattern := range rule.Claims {
		if !matches(pattern, find(c.all, pattern.Claim)) {
			return pattern.Claim, true
		}
	}
	return "", false
}

// find returns the claim of this name; nil if there is none. A dot may belong to a claim's
// name or lead into one: the longest name that is there counts.
func find(object map[string]json.RawMessage, name string) json.RawMessage {
	if value, ok := object[name]; ok {
		return value
	}
	for i := len(name) - 1; i > 0; i-- {
		if name[i] != '.' {
			continue
		}
		if value, ok := object[name[:i]]; ok {
			var inner map[string]json.RawMessage
			if json.Unmarshal(value, &inner) != nil {
				return nil
			}
			return find(inner, name[i+1:])
		}
	}
	return nil
}

// matches reports whether a claim's value, or one of them if it is a list, is as the
// pattern has it.
func matches(pattern keyring.ClaimPattern, value json.RawMessage) bool {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		list = []json.RawMessage{value}
	}
	for _, one := range list {
		if text, ok := spelling(one); ok && pattern.Match(text) {
			return true
		}
	}
	return false
}

// spelling returns a string as it is, and numbers and booleans as the token spells them;
// false for anything else.
func spelling(value json.RawMessage) (string, bool) {
	if len(value) == 0 {
		return "", false
	}
	switch value[0] {
	case '"':
		var text string
		err := json.Unmarshal(value, &text)
		return text, err == nil
	case '{', '[', 'n':
		return "", false
	}
	return string(value), true
}
