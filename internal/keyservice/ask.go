package keyservice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast/holdfast/internal/pause"
)

const (
	// tries is how often something is asked for that may be there a little later.
	tries = 5
	// firstPause is what is waited before the second try, and twice as long before each one more.
	firstPause = 500 * time.Millisecond
	mostAnswer = 1 << 20
	mostSaid   = 300
)

// asker asks a service, and again where a later try may have another end.
type asker struct {
	client *http.Client
	what   string // the service, in words
	pause  func(ctx context.Context, d time.Duration) error
}

func newAsker(client *http.Client, what string) asker { return asker{client, what, pause.For} }

// refusedError is an answer that is none.
type refusedError struct {
	status int
	said   string
}

func (e refusedError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("it answers %d", e.status)
	}
	return fmt.Sprintf("it answers %d: %s", e.status, e.said)
}

// later reports whether the same may be answered otherwise a little later: by one that is busy, sealed, or on standby.
func (e refusedError) later() bool {
	return e.status >= 500 || e.status == http.StatusTooManyRequests || e.status == http.StatusPreconditionFailed
}

// ask sends a request that make makes anew for each try, and decodes its JSON answer.
func (a asker) ask(ctx context.Context, do string, answer any, make func() (*http.Request, error)) error {
	wait := firstPause
	for try := 1; ; try++ {
		err := a.once(ctx, answer, make)
		if err == nil {
			return nil
		}
		refused, said := errors.AsType[refusedError](err)
		if _, ours := errors.AsType[unaskedError](err); ours || try == tries || said && !refused.later() || ctx.Err() != nil {
			return fmt.Errorf("%s can't %s: %w", a.what, do, err)
		}
		if err := a.pause(ctx, wait); err != nil {
			return fmt.Errorf("%s can't %s: %w", a.what, do, err)
		}
		wait *= 2
	}
}

// unaskedError is of a request that could not be made, so that nothing was asked.
type unaskedError struct{ error }

func (e unaskedError) Unwrap() error { return e.error }

func (a asker) once(ctx context.Context, answer any, make func() (*http.Request, error)) error {
	request, err := make()
	if err != nil {
		return unaskedError{err}
	}
	response, err := a.client.Do(request.WithContext(ctx))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return refusedError{response.StatusCode, saidIn(text)}
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return refusedError{response.StatusCode, "what is no JSON object"} // which may have a key in it
	}
	return nil
}

// saidIn returns what the services' errors say: a text, a list of texts, or an object with a message.
func saidIn(body []byte) string {
	var shape struct {
		Errors  []string        `json:"errors"`
		Message string          `json:"message"`
		Upper   string          `json:"Message"`
		Type    string          `json:"__type"`
		Error   json.RawMessage `json:"error"`
		Why     string          `json:"error_description"`
	}
	if json.Unmarshal(body, &shape) != nil {
		return ""
	}
	var inner struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(shape.Error, &inner)
	said := append(shape.Errors, shape.Type, shape.Message, shape.Upper, inner.Message, shape.Why)
	var words []string
	for _, one := range said {
		if one = strings.Join(strings.Fields(one), " "); one != "" {
			words = append(words, one)
		}
	}
	text := strings.Join(words, ": ")
	return text[:min(len(text), mostSaid)]
}

// posted makes a request with a JSON body.
func posted(at string, body any, headers map[string]string) (*http.Request, []byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, nil, err
	}
	request, err := http.NewRequest(http.MethodPost, at, bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	return request, text, nil
}
