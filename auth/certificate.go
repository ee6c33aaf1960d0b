package auth

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Certificate is what counts of a client certificate that the server has verified.
type Certificate struct {
	SANs []string // as CertificateSANs spells them
	// NotAfter is when it ends, for a connection too that began before.
	NotAfter time.Time
}

// limit ends the grant with the certificate, if it would go on for longer.
func (c Certificate) limit(g Grant) Grant {
	if g.Expires.IsZero() || c.NotAfter.Before(g.Expires) {
		g.Expires = c.NotAfter
	}
	return g
}

// VerifyCertificate returns for whom a certificate stands. A refusal is a *fault.Error:
// CredentialsWrong when no rule is about any of its names, or when more than one is;
// KeyExpired or AddressRefused as for a key. It is logged as one of Verify is.
func (v *Verifier) VerifyCertificate(ctx context.Context, shown Certificate, client Client) (Principal, error) {
	login, san, err := v.current.Load().certificate(shown.SANs)
	if err != nil {
		return Principal{}, v.refuse(ctx, err, uuid.Nil, client)
	}
	grant := shown.limit(login.Rule.Grant)
	if err := grant.usable(login.Rule.From, v.now(), client.Address); err != nil {
		return Principal{}, v.refuse(ctx, err, login.Org.ID, client)
	}
	return Principal{
		Org:     login.Org.ID,
		OrgName: login.Org.Name,
		KeyID:   "cert." + login.Rule.Name,
		KeyName: login.Rule.Name,
		Subject: san,
		Grant:   grant,
		Limits:  login.Org.Limits,
		Address: client.Address,
		Request: client.Request,
	}, nil
}

// certificate returns the one login that the names stand for, and the name that does.
func (r *Keyring) certificate(sans []string) (found CertificateLogin, by string, err error) {
	for _, san := range sans {
		login, ok := r.Certificate(san)
		switch {
		case !ok:
		case by == "":
			found, by = login, san
		case login.Org != found.Org || login.Rule.Name != found.Rule.Name:
			return CertificateLogin{}, "", errTwoRules
		}
	}
	if by == "" {
		return CertificateLogin{}, "", errNoRule
	}
	return found, by, nil
}
