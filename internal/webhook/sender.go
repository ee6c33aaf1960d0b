package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/holdfast/holdfast/audit"
)

const (
	timeout  = 10 * time.Second // for one try
	tries    = 6
	tryUntil = 5 * time.Minute // for all of them
)

// sender posts notices.
type sender struct {
	addresses Addresses
	client    *http.Client
	pauses    func() backoff.BackOff // between tries
}

func newSender(addresses Addresses) *sender {
	client := &http.Client{
		Timeout: timeout,
		// A redirect would carry the notice to an address that nobody has agreed to.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &sender{
		addresses: addresses, client: client,
		pauses: func() backoff.BackOff { return backoff.NewExponentialBackOff() },
	}
}

// try posts an event once. An error that is a *backoff.PermanentError will not pass.
func (s *sender) try(ctx context.Context, event audit.Event) error {
	address := s.addresses.NotifyURL(event.Org)
	if address == "" {
		return nil // taken out meanwhile
	}
	body, err := json.Marshal(noticeOf(event))
	if err != nil {
		return backoff.Permanent(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(errors.New("the address can't be used"))
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "holdfast")
	response, err := s.client.Do(request)
	if err != nil {
		return withoutAddress(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10) // so that the connection can be used again
	return verdict(response.StatusCode)
}

// withoutAddress takes the address out of an error, since it may be a secret.
func withoutAddress(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// answered is what an address answered that did not take a notice.
type answered int

func (a answered) Error() string { return fmt.Sprintf("the answer was %d", int(a)) }

func verdict(status int) error {
	switch {
	case status/100 == 2:
		return nil
	case status/100 == 5, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return answered(status)
	}
	return backoff.Permanent(answered(status))
}

func permanent(err error) bool {
	_, ok := errors.AsType[*backoff.PermanentError](err)
	return ok
}
