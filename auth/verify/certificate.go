package verify

import (
	"context"
	"strings"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
)

// limit ends the grant with the certificate, if it would go on for longer.
func limit(g auth.Grant, c auth.Certificate) auth.Grant {
	if g.Expires.IsZero() || c.NotAfter.Before(g.Expires) {
		g.Expires = c.NotAfter
	}
	return g
}

// VerifyCertificate returns for whom a certificate stands. A refusal is a *fault.Error:
// CredentialsWrong when no rule is about any of its names, or when more than one is;
// KeyExpired or AddressRefused as for a key. It is logged as one of Verify is.
func (v *Verifier) VerifyCertificate(ctx context.Context, shown auth.Certificate,
	client auth.Client) (auth.Principal, error) {
	principal, err := v.verifyCertificate(ctx, shown, client)
	if err == nil {
		err = v.trusts()
	}
	if err != nil {
		return auth.Principal{}, err
	}
	v.tell(principal)
	return principal, nil
}

func (v *Verifier) verifyCertificate(ctx context.Context, shown auth.Certificate,
	client auth.Client) (auth.Principal, error) {
	login, san, err := certificateLogin(v.current.Load().Keyring, shown.SANs)
	if err != nil {
		return auth.Principal{}, v.refuse(ctx, err, claim{whose: "unknown: " + told(shown.SANs)}, client)
	}
	grant := limit(login.Rule.Grant, shown)
	p := principalOf(login.Org, grant, client)
	p.KeyID, p.KeyName, p.Subject = login.Rule.ID(), login.Rule.Name, san
	if err := usable(grant, login.Rule.From, v.now(), client.Address); err != nil {
		return auth.Principal{}, v.refuse(ctx, err, claim{login.Org.ID.String(), p}, client)
	}
	return p, nil
}

// toldOfNames is how many bytes are logged of the names in a certificate: there may be thousands of
// names, and each request with it is logged.
const toldOfNames = 200

func told(sans []string) string {
	text := strings.Join(sans, ", ")
	if len(text) <= toldOfNames {
		return text
	}
	return strings.ToValidUTF8(text[:toldOfNames], "") + "…"
}

// certificateLogin returns the one login that the names stand for, and the name that does.
func certificateLogin(r *keyring.Keyring, sans []string) (found keyring.CertificateLogin, by string, err error) {
	for _, san := range sans {
		login, ok := r.Certificate(san)
		switch {
		case !ok:
		case by == "":
			found, by = login, san
		case login.Org != found.Org || login.Rule.Name != found.Rule.Name:
			return keyring.CertificateLogin{}, "", errTwoRules
		}
	}
	if by == "" {
		return keyring.CertificateLogin{}, "", errNoRule
	}
	return found, by, nil
}
