package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

const maxFailure = 64 << 10

// client asks a server as one organization.
type client struct {
	addr string
	org  uuid.UUID
	key  string
	http *http.Client

	pause func(context.Context, time.Duration) error
	notes io.Writer // for people: why it takes so long
}

func newClient(addr string, org uuid.UUID, key string) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	transport.ResponseHeaderTimeout = 5 * time.Minute // a filter may match nothing for long
	return &client{addr: addr, org: org, key: key, pause: pause, notes: io.Discard, http: &http.Client{
		Transport: transport,
		// A redirect could lead the key elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// refusal is an answer other than 200.
type refusal struct {
	status     int
	code       string
	message    string
	request    string
	retryAfter time.Duration
	holder     *lockInfo // of the lock that is in the way; nil for another reason
}

func (r *refusal) Error() string {
	switch {
	case r.holder != nil:
		return fmt.Sprintf("the server answers %d: %s (request %s)", r.status, r.holder, r.request)
	case r.message == "":
		return fmt.Sprintf("the server answers %d %s", r.status, http.StatusText(r.status))
	}
	return fmt.Sprintf("the server answers %d %s: %s (request %s)", r.status, r.code, r.message, r.request)
}

// isRefusal reports whether the server refused for one of these reasons.
func isRefusal(err error, codes ...fault.Code) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && slices.Contains(codes, fault.Code(r.code))
}

// extent is what an answer says of itself. The cursors are empty for what there is not.
type extent struct {
	count      int
	next, last string
}

// records asks for records and hands them on one by one, as they come. The answer is asked
// for as JSON: unlike a trailer, its end passes every proxy.
func (c *client) records(ctx context.Context, query url.Values, each func(json.RawMessage) error) (extent, error) {
	return c.recordsBy(ctx, c.once, query, each) // who follows has a patience of its own
}

// recordsBy is records, asked for by once or do.
func (c *client) recordsBy(ctx context.Context, send func(context.Context, ask) (*http.Response, error), query url.Values, each func(json.RawMessage) error) (extent, error) {
	response, err := send(ctx, ask{path: "data", query: query})
	if err != nil {
		return extent{}, err
	}
	defer response.Body.Close()
	return readAnswer(response.Body, each)
}

func refused(response *http.Response) error {
	r := &refusal{status: response.StatusCode}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		r.retryAfter = time.Duration(seconds) * time.Second
	}
	var failure struct {
		Code, Message string
		RequestID     string `json:"request_id"`
		lockInfo             // a held lock's holder comes in its own words
	}
	// Not from our server, if it can't be read: then the status is all there is to say.
	if json.NewDecoder(io.LimitReader(response.Body, maxFailure)).Decode(&failure) == nil {
		r.code, r.message, r.request = printable(failure.Code), printable(failure.Message), printable(failure.RequestID)
	}
	if response.StatusCode == http.StatusConflict && failure.ID != "" {
		r.holder, r.request = &failure.lockInfo, printable(response.Header.Get("X-Request-ID"))
	}
	return r
}

// errCutOff says that an answer ended early.
var errCutOff = errors.New("the answer broke off; what was shown is not all")

// readAnswer reads the answer's members as they come, and holds one record at a time.
func readAnswer(body io.Reader, each func(json.RawMessage) error) (extent, error) {
	var e extent
	d := json.NewDecoder(body)
	if err := expect(d, json.Delim('{')); err != nil {
		return e, err
	}
	for d.More() {
		name, err := d.Token()
		if err == nil {
			err = e.member(d, name, each)
		}
		if err != nil {
			return e, cutOff(err)
		}
	}
	return e, expect(d, json.Delim('}'))
}

func (e *extent) member(d *json.Decoder, name json.Token, each func(json.RawMessage) error) error {
	switch name {
	case "data":
		return eachElement(d, each)
	case "count":
		return d.Decode(&e.count)
	case "next":
		return d.Decode(&e.next) // null leaves it empty
	case "last":
		return d.Decode(&e.last)
	}
	var other json.RawMessage
	return d.Decode(&other)
}

func eachElement(d *json.Decoder, each func(json.RawMessage) error) error {
	if err := expect(d, json.Delim('[')); err != nil {
		return err
	}
	for d.More() {
		var element json.RawMessage
		if err := d.Decode(&element); err != nil {
			return err
		}
		if err := each(element); err != nil {
			return err
		}
	}
	return expect(d, json.Delim(']'))
}

func expect(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	if err == nil && token != want {
		return errors.New("the answer is not what a Holdfast server sends")
	}
	return cutOff(err)
}

func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCutOff
	}
	return err
}
