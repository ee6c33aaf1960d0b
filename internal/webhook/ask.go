package webhook

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"time"

	"github.com/holdfast/holdfast/internal/outbound"
)

const (
	// askTimeout is for one question, until its answer is read.
	askTimeout = 30 * time.Second
	// maxAnswer is the most that is read of an answer, in bytes.
	maxAnswer = 64 << 10
)

// Asker posts questions, and reads what is answered.
type Asker struct{ client *http.Client }

// NewAsker takes the networks of this machine, or private ones, that may be asked, and the authorities that are
// trusted; nil for the system's. Other networks are refused.
func NewAsker(networks []netip.Prefix, roots *x509.CertPool) *Asker {
	return &Asker{clientFor(networks, roots, askTimeout)}
}

// Ask posts a question, signed as notices are, with an ID that is the same in every try, and returns what is
// answered with the status 200. Its errors have nothing of the address.
func (a *Asker) Ask(ctx context.Context, to Receiver, id string, question []byte) ([]byte, error) {
	request, err := requestTo(ctx, to, id, question)
	if err != nil {
		return nil, err
	}
	response, err := a.client.Do(request)
	if err != nil {
		return nil, outbound.WithoutAddress(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, answered(response.StatusCode)
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case len(answer) > maxAnswer:
		return nil, reason("the answer was too large")
	}
	return answer, nil
}

// clientFor posts to addresses that somebody else has given.
func clientFor(networks []netip.Prefix, roots *x509.CertPool, patience time.Duration) *http.Client {
	return &http.Client{
		Timeout: patience, Transport: outbound.Transport(networks, roots),
		// A redirect would carry what is posted to an address that nobody has agreed to.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// requestTo is a request that posts a body, signed.
func requestTo(ctx context.Context, to Receiver, id string, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address can't be used")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "holdfast")
	if to.HeaderName != "" {
		request.Header.Set(to.HeaderName, to.HeaderValue)
	}
	sign(request.Header, to.Secret, id, time.Now(), body)
	return request, nil
}

// Shown is what an organization may know of an error: nothing of this server's network.
func Shown(err error) string { return shown(err) }
