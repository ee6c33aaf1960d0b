package auth

import (
	"context"

	"github.com/google/uuid"
)

// VerifyCertificate returns for whom a client certificate stands that the server has
// verified; sans are its names as CertificateSANs spells them. A refusal is a *fault.Error:
// CredentialsWrong when no rule is about any of its names, or when more than one is;
// KeyExpired or AddressRefused as for a key. It is logged as one of Verify is.
func (v *Verifier) VerifyCertificate(ctx context.Context, sans []string, client Client) (Principal, error) {
	login, san, err := v.current.Load().certificate(sans)
	if err != nil {
		return Principal{}, v.refuse(ctx, err, uuid.Nil, client)
	}
	if err := login.Rule.Grant.usable(login.Rule.From, v.now(), client.Address); err != nil {
		return Principal{}, v.refuse(ctx, err, login.Org.ID, client)
	}
	return Principal{
		Org:     login.Org.ID,
		OrgName: login.Org.Name,
		KeyID:   "cert." + login.Rule.Name,
		KeyName: login.Rule.Name,
		Subject: san,
		Grant:   login.Rule.Grant,
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
