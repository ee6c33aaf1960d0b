package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast/holdfast/state"
)

// A server that has no time says when to come back. So often, and for so long, a command
// does as it is told.
const (
	maxTries = 5
	maxWait  = time.Minute
)

// ask is one request.
type ask struct {
	method string // GET when it is empty
	path   string // below /api/v1/, escaped
	query  url.Values
	body   []byte
	// measure may watch the body being read; nil for none.
	measure func(total int64, body io.Reader) (watched io.Reader, end func())
}

// do sends a request, and again when the server asks for that: every request may be sent
// twice. Any answer but 2xx is a *refusal; else the body must be closed.
func (c *client) do(ctx context.Context, r ask) (*http.Response, error) {
	for try := 1; ; try++ {
		response, err := c.once(ctx, r)
		wait := comeBack(err)
		if wait == 0 || wait > maxWait || try == maxTries {
			return response, err
		}
		fmt.Fprintf(c.notes, "holdfast: %v; trying again in %s\n", err, wait)
		if err := c.pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

func (c *client) once(ctx context.Context, r ask) (*http.Response, error) {
	address := c.addr + "/api/v1/" + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	body, end := io.Reader(bytes.NewReader(r.body)), func() {}
	if r.measure != nil {
		body, end = r.measure(int64(len(r.body)), body)
	}
	defer end()
	request, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, err
	}
	request.ContentLength = int64(len(r.body))
	request.SetBasicAuth(c.org.String(), c.key)
	request.Header.Set("Accept", "application/json")
	if len(r.body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		defer response.Body.Close()
		return nil, refused(response)
	}
	return response, nil
}

// comeBack returns how long the server wants to be left alone; 0 for an answer that stays.
func comeBack(err error) time.Duration {
	r, ok := errors.AsType[*refusal](err)
	if ok && (r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable) {
		return r.retryAfter
	}
	return 0
}

// object sends a request whose answer is one JSON object, and reads it into into, which
// may be nil. It returns the answer as it came.
func (c *client) object(ctx context.Context, r ask, into any) (json.RawMessage, error) {
	response, err := c.do(ctx, r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return readObject(response.Body, into)
}

// readObject reads an answer that is one JSON object.
func readObject(body io.Reader, into any) (json.RawMessage, error) {
	answer, err := io.ReadAll(body)
	if err != nil {
		return nil, cutOff(err)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(answer, &members) != nil || into != nil && json.Unmarshal(answer, into) != nil {
		return nil, errNotOurs
	}
	return bytes.TrimSpace(answer), nil
}

var errNotOurs = errors.New("the answer is not what a Holdfast server sends")

// ofState returns the path of what is below a state's. The name must be one.
func ofState(name string, below ...string) (string, error) {
	if _, err := state.ParseName(name); err != nil {
		return "", usageError{err}
	}
	path := "state/" + pathSegment(name)
	for _, segment := range below {
		path += "/" + pathSegment(segment)
	}
	return path, nil
}

// pathSegment escapes a text as one segment of a path. A "+" is escaped too: it may stand
// there as it is, but some proxies, and servers of earlier versions, take it for a space.
func pathSegment(text string) string { return strings.ReplaceAll(url.PathEscape(text), "+", "%2B") }

// order is the body of a request that says what to do, and why.
type order struct {
	Reason string `json:"reason,omitempty"`
	LockID string `json:"lock_id,omitempty"`
	Anyway bool   `json:"anyway,omitempty"`
	// RestorePurged takes bytes that were purged.
	RestorePurged bool `json:"restore_purged,omitempty"`
}

func (o order) body() []byte {
	body, _ := json.Marshal(o) // of text and booleans: can't fail
	return body
}
