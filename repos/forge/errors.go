package forge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdfast/holdfast/internal/outbound"
	"github.com/holdfast/holdfast/internal/printable"
)

// Kind is what went wrong at a forge, and so what is to be done.
type Kind string

// The kinds of errors.
const (
	Credentials Kind = "credentials" // refused: others are needed
	Forbidden   Kind = "forbidden"   // good credentials, which may not do this
	Missing     Kind = "missing"     // not there, or hidden from these credentials
	Conflict    Kind = "conflict"    // something else came between
	Invalid     Kind = "invalid"     // the forge does not take what it was sent
	Later       Kind = "later"       // too many requests: Error.Until says when to come again
	Unavailable Kind = "unavailable" // no answer, or one that says to come again
	Refused     Kind = "refused"     // an address that may not be connected to
)

// Error is what went wrong. It has no credentials in it.
type Error struct {
	Kind     Kind
	Provider Provider
	Status   int       // of HTTP; 0 without an answer
	Message  string    // for people
	Until    time.Time // when to come again, where the forge said so
}

// Error implements error.
func (e *Error) Error() string {
	text := string(e.Provider)
	if e.Status != 0 {
		text += fmt.Sprintf(" answered %d", e.Status)
	}
	return text + ": " + e.Message
}

// Is reports whether an error is one of a forge, of this kind.
func Is(err error, kind Kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == kind
}

// maxMessage is how many bytes of a forge's words are shown.
const maxMessage = 300

// refusal makes an error of an answer that is none of success.
func (c *client) refusal(response *http.Response, body []byte) *Error {
	e := &Error{Provider: c.provider, Status: response.StatusCode, Message: c.clean(messageOf(body))}
	if e.Message == "" {
		e.Message = strings.ToLower(http.StatusText(response.StatusCode))
	}
	e.Until = c.until(response.Header)
	switch code := response.StatusCode; {
	case code == http.StatusTooManyRequests, code == http.StatusForbidden && limited(response.Header, e.Message):
		e.Kind = Later
		if e.Until.IsZero() {
			e.Until = c.now().Add(time.Minute)
		}
	case code == http.StatusUnauthorized:
		e.Kind = Credentials
	case code == http.StatusForbidden:
		e.Kind = Forbidden
	case code == http.StatusNotFound || code == http.StatusGone:
		e.Kind = Missing
	case code == http.StatusConflict:
		e.Kind = Conflict
	case code >= 500 || code == http.StatusRequestTimeout:
		e.Kind = Unavailable
	default:
		e.Kind = Invalid
	}
	return e
}

// limited reports whether a 403 is not about permissions: GitHub's limits are answered so.
func limited(h http.Header, message string) bool {
	return h.Get("Retry-After") != "" || h.Get("X-RateLimit-Remaining") == "0" ||
		strings.Contains(strings.ToLower(message), "secondary rate limit")
}

// maxWait is how long a forge may have itself left alone: a header that says next year is wrong.
const maxWait = 2 * time.Hour

// until is when the forge wants to be asked again; the zero time where it does not say.
func (c *client) until(h http.Header) time.Time {
	now := c.now()
	bounded := func(t time.Time) time.Time {
		if t.Before(now) {
			return now
		}
		if latest := now.Add(maxWait); t.After(latest) {
			return latest
		}
		return t
	}
	if text := h.Get("Retry-After"); text != "" {
		if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
			return bounded(now.Add(time.Duration(seconds) * time.Second))
		}
		if at, err := http.ParseTime(text); err == nil {
			return bounded(at)
		}
	}
	for _, name := range []string{"X-RateLimit-Reset", "RateLimit-Reset"} { // GitHub's, Gitea's; GitLab's
		if seconds, err := strconv.ParseInt(h.Get(name), 10, 64); err == nil {
			return bounded(time.Unix(seconds, 0))
		}
	}
	return time.Time{}
}

// messageOf finds what people are to read in an answer: forges put it into one of these places.
func messageOf(body []byte) string {
	var answer struct {
		Message json.RawMessage `json:"message"`
		Error   json.RawMessage `json:"error"`
		Errors  json.RawMessage `json:"errors"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return ""
	}
	var words []string
	for _, raw := range []json.RawMessage{answer.Message, answer.Error, answer.Errors} {
		var text string
		var object struct {
			Message string `json:"message"`
		}
		switch {
		case len(raw) == 0 || bytes.Equal(raw, []byte("null")):
		case json.Unmarshal(raw, &text) == nil:
			words = append(words, text)
		case json.Unmarshal(raw, &object) == nil && object.Message != "":
			words = append(words, object.Message)
		default:
			words = append(words, string(raw))
		}
	}
	return strings.Join(words, ": ")
}

// clean bounds a text of somebody else's, and takes the credentials out that it may repeat.
func (c *client) clean(text string) string {
	for _, secret := range c.credentials.secrets() {
		text = strings.ReplaceAll(text, secret, "(credentials)")
	}
	text = printable.Text(text)
	if len(text) > maxMessage {
		end := maxMessage
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "…"
	}
	return text
}

// unanswered makes an error of a request that got no answer.
func (c *client) unanswered(err error) *Error {
	if refused, ok := errors.AsType[*outbound.RefusedError](err); ok {
		return &Error{Kind: Refused, Provider: c.provider, Message: refused.Error()}
	}
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	return &Error{Kind: Unavailable, Provider: c.provider, Message: c.clean(err.Error())}
}

// unlike makes an error of an answer that is not what the forge is said to answer.
func (c *client) unlike(format string, args ...any) *Error {
	return &Error{Kind: Unavailable, Provider: c.provider, Message: c.clean(fmt.Sprintf(format, args...))}
}
