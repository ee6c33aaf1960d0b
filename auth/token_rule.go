package auth

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// TokenRule is an [<org>.oidc.<name>] section: which tokens of an issuer stand for the
// organization, and what they are good for.
type TokenRule struct {
	Name     string // unique among the organization's token rules
	Issuer   string // the URL exactly as tokens carry it
	Audience string
	Claims   []ClaimPattern // at least one; a token must match all
	Grant                   // Expires is zero: each token has its own
	From     []netip.Prefix // where tokens may be used from; empty for anywhere
	// ValidFor is for how long after its iat a token counts although its exp is past: some
	// issuers' tokens live shorter than an apply takes. 0 leaves it at the exp.
	ValidFor time.Duration
}

// ID is the KeyID of a Principal whose token the rule let in.
func (r TokenRule) ID() string { return tokenKind + "." + r.Name }

// ClaimPattern is what one claim of a token must look like.
type ClaimPattern struct {
	Claim   string // its name; with dots, it may be one claim or nested ones
	Pattern string // text in which * stands for any characters, also none

	expression expression
}

// Match reports whether the claim may have this value.
func (c ClaimPattern) Match(value string) bool {
	return c.expression.matches(value)
}

// claimPrefix starts the settings that are about a claim.
const claimPrefix = "claims."

const maxClaim = 255 // bytes of a claim's name, and of a pattern

// readClaim reads the setting claims.<name> = pattern.
func readClaim(l line) (ClaimPattern, string) {
	name := strings.TrimPrefix(l.setting, claimPrefix)
	switch {
	case name == "" || len(name) > maxClaim || !onlyOf(name, base62Digits+"._-/"):
		return ClaimPattern{}, "not a claim's name: claims.<name> has letters, digits, . _ - and /"
	case len(l.value) > maxClaim:
		return ClaimPattern{}, "a pattern longer than 255 characters"
	}
	// A value that holds a line break must not pass as one that ends there, or starts.
	whole := newExpression(`(?s)\A` + strings.ReplaceAll(regexp.QuoteMeta(l.value), `\*`, ".*") + `\z`)
	return ClaimPattern{Claim: name, Pattern: l.value, expression: whole}, checkValue(l.value)
}

// maxValidFor bounds what a stolen token is worth.
const maxValidFor = 24 * time.Hour

func readValidFor(text string) (time.Duration, string) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > maxValidFor {
		return 0, "valid_for is a time such as 90m, of at most 24h, counted from a token's iat"
	}
	return d, ""
}

// checkIssuer returns what is wrong with an issuer's URL. Its keys decide who comes in, so
// they may not come over a line that others can write to.
func checkIssuer(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return "not an issuer's URL such as https://token.actions.githubusercontent.com"
	case u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()):
		return checkValue(text)
	}
	return "an issuer's URL starts with https://; http:// is for this machine only"
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// checkValue returns why a text means something else to other readers of INI files.
func checkValue(text string) string {
	switch {
	case text == "":
		return "the value is missing"
	case strings.ContainsAny(text[:1], "\"'`"):
		return "a value can't start with a quotation mark; it needs none"
	case strings.Contains(text, "%("):
		return "a value can't contain %("
	}
	return ""
}

// tokenSection is that of a TokenRule.
type tokenSection struct {
	grantSection
	org    *Organization
	rule   TokenRule
	claims bool // there is a setting for one, right or wrong
}

func (*tokenSection) about() sectionKind {
	return sectionKind{has: "an oidc section has issuer, audience, claims.<name>, valid_for, role, states and from"}
}

func (s *tokenSection) set(l line) (problem string, known bool) {
	switch {
	case l.setting == "issuer":
		s.rule.Issuer = l.value
		return checkIssuer(l.value), true
	case l.setting == "audience":
		s.rule.Audience = l.value
		return checkValue(l.value), true
	case l.setting == "expires":
		return "", false // its tokens do
	case l.setting == "valid_for":
		s.rule.ValidFor, problem = readValidFor(l.value)
		return problem, true
	case strings.HasPrefix(l.setting, claimPrefix):
		claim, problem := readClaim(l)
		s.rule.Claims, s.claims = append(s.rule.Claims, claim), true
		return problem, true
	}
	return s.grantSection.set(l)
}

func (s *tokenSection) end(at span) {
	s.p.lacks("an oidc section needs an issuer", "issuer")
	s.p.lacks("an oidc section needs an audience: without one, tokens made for others would do", "audience")
	if !s.claims {
		s.p.lacks("an oidc section needs a claims.<name>: without one, all of the issuer's tokens would do")
	}
	s.check()
	s.rule.Grant, s.rule.From = s.grant, s.from
	s.org.Tokens, s.org.last = append(s.org.Tokens, s.rule), at.last
}
