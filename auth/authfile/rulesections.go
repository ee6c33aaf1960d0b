package authfile

import (
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
)

// claimPrefix starts the settings that are about a claim.
const claimPrefix = "claims."

const maxClaim = 255 // bytes of a claim's name, and of a pattern

// readClaim reads the setting claims.<name> = pattern.
func readClaim(l line) (keyring.ClaimPattern, string) {
	name := strings.TrimPrefix(l.setting, claimPrefix)
	switch {
	case name == "" || len(name) > maxClaim || !onlyOf(name, alphanumerics+"._-/"):
		return keyring.ClaimPattern{}, "not a claim's name: claims.<name> has letters, digits, . _ - and /"
	case len(l.value) > maxClaim:
		return keyring.ClaimPattern{}, "a pattern longer than 255 characters"
	}
	return keyring.NewClaimPattern(name, l.value), checkValue(l.value)
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
	rule   keyring.TokenRule
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

// certificateSection is that of a CertificateRule.
type certificateSection struct {
	grantSection
	org  *Organization
	rule keyring.CertificateRule
}

func (*certificateSection) about() sectionKind {
	return sectionKind{has: "a cert section has san, role, states, expires and from", repeats: []string{"san"}}
}

func (s *certificateSection) set(l line) (problem string, known bool) {
	if l.setting == "san" {
		return s.names(l.value), true
	}
	return s.grantSection.set(l)
}

// names takes subject alternative names. One that stood for two rules would leave open
// which of them counts.
func (s *certificateSection) names(value string) string {
	list, problem := readList(value)
	for _, text := range list {
		san, err := auth.ReadSAN(text)
		if err != nil {
			return "not a subject alternative name: " + err.Error()
		}
		if problem := first(s.p.sans, san, "subject alternative name", s.p.number()); problem != "" {
			return problem
		}
		s.rule.SANs = append(s.rule.SANs, san)
	}
	return problem
}

func (s *certificateSection) end(at span) {
	s.p.lacks("a cert section needs a san: the name that is in the certificate", "san")
	s.check()
	s.rule.Grant, s.rule.From = s.grant, s.from
	s.org.Certificates, s.org.last = append(s.org.Certificates, s.rule), at.last
}
