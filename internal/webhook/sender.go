package webhook

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/outbound"
)

// timeout is for one try.
const timeout = 10 * time.Second

// The pauses between two tries for a receiver that fails, each longer than the one before and
// with some chance in it, so that the receivers behind one proxy are not all tried at once.
const (
	firstPause = time.Second
	lastPause  = 15 * time.Minute
)

// sender posts notices.
type sender struct {
	receivers Receivers
	public    string
	client    *http.Client
	pauses    func() backoff.BackOff // between tries
}

// newSender takes who receives, the address for links, and the networks of this machine or private ones
// that notices may go to, and whom it trusts; nil for the system's authorities.
func newSender(receivers Receivers, public string, networks []netip.Prefix, roots *x509.CertPool) *sender {
	return &sender{
		receivers: receivers, public: public, client: clientFor(networks, roots, timeout),
		pauses: func() backoff.BackOff {
			b := backoff.NewExponentialBackOff()
			b.InitialInterval, b.Multiplier, b.MaxInterval = firstPause, 2, lastPause
			return b
		},
	}
}

// try posts an event once. An error that is a *backoff.PermanentError will not pass.
func (s *sender) try(ctx context.Context, event audit.Event) error {
	to, some := s.receivers.Receiver(event.Org)
	if !some {
		return nil // taken out meanwhile
	}
	body, err := bodyOf(event, to, s.public)
	if err != nil {
		return backoff.Permanent(err)
	}
	request, err := requestTo(ctx, to, idOf(event), body)
	if err != nil {
		return backoff.Permanent(err)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return outbound.WithoutAddress(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10) // so that the connection can be used again
	return verdict(response.StatusCode)
}

// answered is what an address answered that did not take a notice.
type answered int

func (a answered) Error() string { return fmt.Sprintf("the answer was %d", int(a)) }

func verdict(status int) error {
	switch {
	case status/100 == 2:
		return nil
	case status/100 == 3, slices.Contains(refusals(), status):
		return backoff.Permanent(answered(status))
	}
	return answered(status)
}

// refusals are the answers to what is wrong with the notice, or with its address for good. Others
// may pass: a credential is mended, and what a proxy doesn't find comes back.
func refusals() []int {
	return []int{http.StatusBadRequest, http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity}
}

func permanent(err error) bool {
	_, ok := errors.AsType[*backoff.PermanentError](err)
	return ok
}
