package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/printable"
)

// maxFailure bounds what is read of a refusal.
const maxFailure = 64 << 10

// lockHeld is the code of the refusal whose body is the holder's LockInfo, without a code.
const lockHeld api.ErrorCode = "lock_held"

// ErrCutOff says that an answer ended early.
var ErrCutOff = errors.New("the answer broke off; what was shown is not all")

// ErrDamaged says that the bytes of a state are not those that the server describes.
var ErrDamaged = errors.New("the bytes that came are not those that the server keeps: they don't match its digest")

// Error is a refusal: an answer with another status than 2xx.
type Error struct {
	Status int // 0 for a refusal within a stream that had begun
	// Code is empty, as everything but Status may be, where the answer is not Holdfast's.
	Code      api.ErrorCode
	Message   string
	RequestID string
	Details   []api.Detail
	// Lock is the holder of the lock that is in the way; nil for another reason.
	Lock *api.LockInfo
	// RetryAfter is how long the server wants to be left alone; 0 where it does not say.
	RetryAfter time.Duration
	logEnd     int64 // of the log that the refused piece is of
}

// Error implements error. The text is fit for a terminal, whatever the server says.
func (e *Error) Error() string {
	text := fmt.Sprintf("the server answers %d %s: %s (request %s)", e.Status, e.Code, e.Message, e.RequestID)
	switch {
	case e.Code == lockHeld && e.Lock != nil:
		text = fmt.Sprintf("the server answers %d: %s (request %s)", e.Status, e.Lock, e.RequestID)
	case e.Status == 0: // it came within an answer
		text = fmt.Sprintf("the server says %s: %s", e.Code, e.Message)
	case e.Message == "":
		text = fmt.Sprintf("the server answers %d %s", e.Status, http.StatusText(e.Status))
	}
	return printable.Lines(text)
}

// Passing reports whether the refusal is of the moment: the same request may come through later. That a server has
// no such thing (501) stays so.
func (e *Error) Passing() bool {
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusRequestTimeout:
		return true
	case http.StatusNotImplemented:
		return false
	}
	return e.Status >= http.StatusInternalServerError
}

// IsCode reports whether the server refused for one of these reasons: the constants of package
// fault, or the codes of docs/api.md as text.
func IsCode[C ~string](err error, codes ...C) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && slices.Contains(codes, C(e.Code))
}

// refusalOf reads an answer that is one.
func refusalOf(response *http.Response) error {
	e := &Error{Status: response.StatusCode}
	e.RetryAfter = retryAfter(response.Header.Get("Retry-After"))
	var failure api.Failure
	var holder api.LockInfo
	var raw json.RawMessage
	_ = json.NewDecoder(io.LimitReader(response.Body, maxFailure)).Decode(&raw) // waits for no more than it needs
	// Not from our server, if it can't be read: then the status is all there is to say.
	if json.Unmarshal(raw, &failure) == nil {
		e.Code, e.Message, e.RequestID, e.Details = failure.Code, failure.Message, failure.RequestID, failure.Details
		e.logEnd = logEndOf(raw)
	}
	if e.Status == http.StatusConflict && e.Code == "" && json.Unmarshal(raw, &holder) == nil && holder.ID != "" {
		e.Code, e.Lock, e.RequestID = lockHeld, &holder, response.Header.Get("X-Request-ID")
	} else if failure.Lock != nil && json.Unmarshal(failure.Lock, &holder) == nil {
		e.Lock = &holder
	}
	return e
}

// retryAfter reads the header of this name (RFC 9110, 10.2.3); 0 where it says nothing that can
// be kept to.
func retryAfter(text string) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), math.MaxInt32)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// wait returns for how long to wait before the request is sent again; 0 for never.
func wait(err error) time.Duration {
	e, ok := errors.AsType[*Error](err)
	if ok && e.RetryAfter <= maxWait &&
		(e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable) {
		return e.RetryAfter
	}
	return 0
}

func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrCutOff
	}
	return err
}
