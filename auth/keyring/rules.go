package keyring

import (
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/lazyregexp"
)

// What the ID of a rule begins with, and the name of its section after its organization.
const (
	TokenKind       = "oidc"
	CertificateKind = "cert"
)

// TokenRule is an [<org>.oidc.<name>] section: which tokens of an issuer stand for the
// organization, and what they are good for.
type TokenRule struct {
	Name       string // unique among the organization's token rules
	Issuer     string // the URL exactly as tokens carry it
	Audience   string
	Claims     []ClaimPattern // at least one; a token must match all
	auth.Grant                // Expires is zero: each token has its own
	From       []netip.Prefix // where tokens may be used from; empty for anywhere
	// ValidFor is for how long after its iat a token counts although its exp is past: some
	// issuers' tokens live shorter than an apply takes. 0 leaves it at the exp.
	ValidFor time.Duration
}

// ID is the KeyID of a Principal whose token the rule let in.
func (r TokenRule) ID() string { return TokenKind + "." + r.Name }

// ClaimPattern is what one claim of a token must look like.
type ClaimPattern struct {
	Claim   string // its name; with dots, it may be one claim or nested ones
	Pattern string // text in which * stands for any characters, also none

	expression lazyregexp.Expression
}

// NewClaimPattern returns a pattern for the claim of this name. A value that holds a line
// break must not pass as one that ends there, or starts.
func NewClaimPattern(name, pattern string) ClaimPattern {
	whole := lazyregexp.New(`(?s)\A` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + `\z`)
	return ClaimPattern{Claim: name, Pattern: pattern, expression: whole}
}

// Match reports whether the claim may have this value.
func (c ClaimPattern) Match(value string) bool {
	return c.expression.Matches(value)
}

// CertificateRule is an [<org>.cert.<name>] section: which client certificates stand for
// the organization, and what they are good for.
type CertificateRule struct {
	Name string   // unique among the organization's certificate rules
	SANs []string // in the form that auth.ReadSAN returns; any one of them is enough
	auth.Grant
	From []netip.Prefix // where they may be used from; empty for anywhere
}

// ID is the KeyID of a Principal whose certificate the rule let in.
func (r CertificateRule) ID() string { return CertificateKind + "." + r.Name }
