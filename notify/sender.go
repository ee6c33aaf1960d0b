package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
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
	log       *slog.Logger
	workers   sync.WaitGroup
}

func newSender(addresses Addresses, log *slog.Logger) *sender {
	client := &http.Client{
		Timeout: timeout,
		// A redirect would carry the notice to an address that nobody has agreed to.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &sender{
		addresses: addresses, client: client, log: log,
		pauses: func() backoff.BackOff { return backoff.NewExponentialBackOff() },
	}
}

// work sends what comes, one after the other, until ctx ends.
func (s *sender) work(ctx context.Context, queue <-chan audit.Event) {
	s.workers.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case event := <-queue:
				s.send(ctx, event)
			}
		}
	})
}

func (s *sender) wait() { s.workers.Wait() }

// send tries until the address has taken the notice, refuses it, or has had its time.
func (s *sender) send(ctx context.Context, event audit.Event) {
	body, err := json.Marshal(noticeOf(event))
	if err == nil {
		_, err = backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, s.try(ctx, event, body) },
			backoff.WithBackOff(s.pauses()), backoff.WithMaxTries(tries), backoff.WithMaxElapsedTime(tryUntil))
	}
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "a notice could not be delivered", "org", event.Org.String(),
			"action", string(event.Action), "sequence", event.Sequence, "error", err)
	}
}

func (s *sender) try(ctx context.Context, event audit.Event, body []byte) error {
	address := s.addresses.NotifyURL(event.Org)
	if address == "" {
		return nil // taken out meanwhile
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

func verdict(status int) error {
	err := fmt.Errorf("the answer was %d", status)
	switch {
	case status/100 == 2:
		return nil
	case status/100 == 5, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return err
	}
	return backoff.Permanent(err)
}

// notice is an event as it is told: as in the audit log, with the organization.
type notice struct {
	Org       string       `json:"org"`
	Sequence  uint64       `json:"sequence"`
	At        time.Time    `json:"at"`
	Action    audit.Action `json:"action"`
	State     string       `json:"state"`
	Version   uint64       `json:"version,omitempty"`
	LockID    string       `json:"lock_id,omitempty"`
	Reason    string       `json:"reason,omitempty"`
	Note      string       `json:"note,omitempty"`
	KeyID     string       `json:"key_id"`
	KeyName   string       `json:"key_name,omitempty"`
	Subject   string       `json:"subject,omitempty"`
	Address   string       `json:"address,omitempty"`
	RequestID string       `json:"request_id,omitempty"`
}

func noticeOf(e audit.Event) notice {
	return notice{
		Org: e.Org.String(), Sequence: e.Sequence, At: e.At, Action: e.Action, State: e.State, Version: e.Version,
		LockID: e.LockID, Reason: e.Reason, Note: e.Note, KeyID: e.Actor.KeyID, KeyName: e.Actor.KeyName,
		Subject: e.Actor.Subject, Address: e.Actor.Address, RequestID: e.Actor.Request,
	}
}
