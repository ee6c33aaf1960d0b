package verify

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// isRun reports whether the credentials are the token of a run.
func (v *Verifier) isRun(cred auth.Credentials) bool {
	return v.runs != nil && auth.IsRunToken(cred.Key)
}

// verifyRun is verifyKey for the token of a run, which counts as a bad token does when it is
// refused.
func (v *Verifier) verifyRun(ctx context.Context, cred auth.Credentials, client auth.Client) (auth.Principal, error) {
	p, err := v.runOf(ctx, cred, client)
	return p, v.countRefused(err, originOf(cred.Org, client.Address))
}

// runOf returns whom the token of a run stands for: a caller of its organization, with that
// one's limits, for as long as the organization is in the keyring.
func (v *Verifier) runOf(ctx context.Context, cred auth.Credentials, client auth.Client) (auth.Principal, error) {
	p, err := v.runs.VerifyRun(ctx, cred.Key)
	if err != nil {
		return auth.Principal{}, err
	}
	o, ok := v.current.Load().Organizations[p.Org]
	switch {
	case p.Run == nil || !ok:
		return auth.Principal{},
			fault.New(fault.TokenRefused, "the run's token is not accepted: its organization is not in force any more")
	case cred.Org != uuid.Nil && cred.Org != p.Org:
		return auth.Principal{},
			fault.New(fault.TokenRefused,
				"the run's token is not accepted: the user name, or X-Org-ID, is another organization than the run's")
	}
	p.OrgName, p.Limits, p.Exposure, p.Address, p.Request = o.Name, o.Limits, o.Exposure, client.Address, client.Request
	return p, usable(p.Grant, nil, v.now(), client.Address)
}

// runAgain is runOf in the middle of a request.
func (v *Verifier) runAgain(ctx context.Context, cred auth.Credentials, before auth.Principal) (auth.Principal, error) {
	p, err := v.runOf(ctx, cred, auth.Client{Address: before.Address, Request: before.Request})
	if fault.Is(err, fault.TokenRefused) {
		err = revoked(err)
	}
	return p, err
}
