package verify

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// InForce reports whether there is an organization that somebody gets in for.
func (v *Verifier) InForce(org uuid.UUID) bool {
	_, there := v.current.Load().Organizations[org]
	return there
}

// RefuseSecret returns what to tell somebody whose secret of a pool or an agent was refused with err. It counts and
// logs that as it does with keys. org is whose agent they say they are; uuid.Nil if nobody knows. Errors that are no
// refusal are returned as they are. A good secret gets in however many were wrong: nobody finds one by trying.
func (v *Verifier) RefuseSecret(ctx context.Context, err error, org uuid.UUID, client auth.Client) error {
	if !fault.Is(err, fault.CredentialsWrong) {
		return err
	}
	from := originOf(org, client.Address)
	from.agent = true
	if tooMany := v.failures.allowed(from); tooMany != nil {
		err = tooMany
	} else {
		v.failures.record(from)
	}
	return v.refuse(ctx, err, claimOf(org), client)
}
