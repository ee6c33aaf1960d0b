package verify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// maxRetryAfter is the longest wait that a refusal asks for. OpenTofu and Terraform wait for as long
// as they are told without a word, and try again twice: a wait is told in full where the next try is
// looked at then, which of ten failures a minute is after six seconds, and is never one of minutes.
const maxRetryAfter = 10 * time.Second

var errReloads = errors.New("the auth file changes faster than a key can be checked")

// wrongError is why credentials are wrong, for the log only.
type wrongError string

func (e wrongError) Error() string { return string(e) }

const (
	errWrongOrg wrongError = "no such organization, or it has no keys"
	errWrongKey wrongError = "wrong key"
	errNoKey    wrongError = "not a possible key: empty, too long, or with a NUL byte"
	errAgain    wrongError = "the same wrong key as before"
	errOften    wrongError = "the same wrong key, over and over"

	errNoRule   wrongError = "no organization has a rule for a name in the certificate"
	errTwoRules wrongError = "the certificate's names stand for different rules"
)

// whyWrong returns why no hash has matched.
func whyWrong(a attempt, h hashes) error {
	switch {
	case !possibleKey(a.Key):
		return errNoKey
	case !h.counts:
		return errWrongOrg
	}
	return errWrongKey
}

// tooManyError says that somebody must wait before anything is compared.
type tooManyError struct {
	whose string
	wait  time.Duration
}

func (e tooManyError) Error() string { return fmt.Sprintf("too many failures %s", e.whose) }

// claim is who somebody said they are who was refused: whose for the log, and who as far as it is known.
type claim struct {
	whose string
	who   auth.Principal
}

// claimOf is a claim of which no more is known than the organization.
func claimOf(org uuid.UUID) claim { return claim{whose: org.String(), who: auth.Principal{Org: org}} }

// refuse logs why somebody was refused and returns what to tell them.
func (v *Verifier) refuse(ctx context.Context, err error, of claim, client auth.Client) error {
	f := refusal(err)
	v.refusals.count(f.Code)
	v.fail(of.who, client, f.Code)
	level := slog.LevelWarn
	if f.Code == fault.TooManyFailures || errors.Is(err, errOften) {
		// The failures themselves were logged, and these come as fast as a flood can send.
		level = slog.LevelDebug
	}
	v.log.Log(ctx, level, "credentials refused",
		slog.String("organization", of.whose),
		slog.String("client", client.Address),
		slog.String("reason", err.Error()))
	return f
}

// fail tells of a failed login at an organization that there is. Whose key or rule is known is somebody; of
// others the network counts that is counted where failures are limited.
func (v *Verifier) fail(who auth.Principal, client auth.Client, told fault.Code) {
	switch told {
	case fault.Busy, fault.IssuerUnavailable, fault.InternalError:
		return // nobody was refused for what they have shown
	}
	if _, there := v.current.Load().Organizations[who.Org]; !there {
		return
	}
	if who.Address = client.Address; who.KeyID == "" {
		who.Address = originOf(who.Org, client.Address).client
	}
	v.failed(who, told)
}

// refusal returns what to tell somebody. Those with a wrong key and those with a wrong
// organization are told the same.
func refusal(err error) *fault.Error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	switch {
	case errors.Is(err, errNoRule):
		return fault.Wrap(err, fault.CredentialsWrong, "the client certificate stands for no organization")
	case errors.Is(err, errTwoRules):
		return fault.Wrap(err, fault.CredentialsWrong,
			"the client certificate has names that stand for different logins; one of them must go")
	}
	if wrong, ok := errors.AsType[wrongError](err); ok {
		return fault.Wrap(wrong, fault.CredentialsWrong, "the organization or the key is wrong, or the key was revoked")
	}
	if many, ok := errors.AsType[tooManyError](err); ok {
		f := fault.Wrap(many, fault.TooManyFailures,
			"too many wrong credentials came from this address, or for this organization, within a minute; these were not "+
				"looked at, and can be in %d s; a key that `holdfast key add` made for the organization has tries of its own",
			(many.wait+time.Second-1)/time.Second)
		f.RetryAfter = min(many.wait, maxRetryAfter)
		return f
	}
	return fault.Wrap(err, fault.Busy, "too many key checks are waiting; try again in a second")
}
