package oidc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
)

// maxNamed is how many rules a refusal names.
const maxNamed = 5

// loginsFor returns the rules that a token may be for, of one organization: the one that
// the caller named, else the only one that has any.
func loginsFor(rules *keyring.Keyring, org uuid.UUID, t token) ([]keyring.TokenLogin, error) {
	var logins []keyring.TokenLogin
	for i, audience := range t.audience {
		if slices.Contains(t.audience[:i], audience) {
			continue
		}
		for _, login := range rules.Tokens(t.issuer, audience) {
			if org == uuid.Nil || login.Org.ID == org {
				logins = append(logins, login)
			}
		}
	}
	if len(logins) == 0 {
		return nil, fmt.Errorf("no rule of the organization is for its iss, %.200q, and its aud, %.200q", t.issuer,
			strings.Join(t.audience, " "))
	}
	if slices.ContainsFunc(logins, func(l keyring.TokenLogin) bool { return l.Org.ID != logins[0].Org.ID }) {
		return nil, errors.New("several organizations have rules for its iss and aud; name yours, as the Basic user name " +
			"or in X-Org-ID")
	}
	return logins, nil
}

// choose returns the first rule that a verified token matches.
func choose(logins []keyring.TokenLogin, c claims) (keyring.TokenLogin, error) {
	var unmet []string
	for _, login := range logins {
		claim, found := c.unmet(login.Rule)
		if !found {
			return login, nil
		}
		unmet = append(unmet, fmt.Sprintf("%s (rule %s)", claim, login.Rule.Name))
	}
	refused := fault.New(fault.TokenRefused,
		"the token is good, but for no rule of the organization; claims that don't match: %s",
		strings.Join(unmet[:min(len(unmet), maxNamed)], ", "))
	refused.Err = fmt.Errorf("its sub is %.200q", c.registered.Subject)
	return keyring.TokenLogin{}, refused
}
