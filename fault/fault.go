// Package fault says what can go wrong in Holdfast, in terms that a person can act on.
//
// Domain and storage code returns a *Error with a Code from the catalogue; one table in
// package middleware turns the code's Kind into an HTTP status. An error that is not a
// *Error is internal: it is logged, and the caller learns only the request ID.
package fault

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Kind is the class of a fault. Every Code belongs to one.
type Kind uint8

// The kinds. Internal is the zero value: what nobody classified is our own fault.
const (
	Internal           Kind = iota
	Invalid                 // the caller sent something that can't be right
	Unauthenticated         // no credentials, or wrong ones
	Forbidden               // good credentials that may not do this
	NotFound                // there is no such thing; on the addresses that clients use, no such state
	MethodNotAllowed        // the path exists, the method doesn't
	Conflict                // somebody else holds what the caller wants
	Gone                    // it was there, and was taken away for good
	PreconditionFailed      // it is not what the caller takes it to be
	TooLarge                // over a size limit
	Unsupported             // a media type that is not understood
	Timeout                 // the caller did not send what it said in time
	TooMany                 // the caller asks too often
	Unprocessable           // well-formed, but at odds with what is there
	NotImplemented          // this configuration doesn't offer it
	Unavailable             // try again soon
	Degraded                // works, but a part is behind
	NoSpace                 // the store is full
)

// Error is one fault. Message is shown to the caller, Err only to the operator.
type Error struct {
	Code    Code
	Message string
	Err     error
	// RetryAfter is how long the caller should wait before it tries again; zero says nothing.
	RetryAfter time.Duration
	// Details lists the single faults of an input that has several.
	Details []Detail
}

// Detail is one fault of an input.
type Detail struct {
	Pointer string // where, as a JSON Pointer (RFC 6901)
	Rule    string // what must hold there
}

// New returns a fault with a formatted message for the caller. One of Busy says to try again soon.
func New(code Code, format string, args ...any) *Error { return Wrap(nil, code, format, args...) }

// busyFor is how long what is busy usually stays so.
const busyFor = time.Second

// Wrap returns a fault that keeps err as its cause, for the log and for errors.Is.
func Wrap(err error, code Code, format string, args ...any) *Error {
	e := &Error{Code: code, Message: fmt.Sprintf(format, args...), Err: err}
	if code == Busy {
		e.RetryAfter = busyFor
	}
	return e
}

func (e *Error) Error() string {
	if e.Err == nil {
		return string(e.Code) + ": " + e.Message
	}
	return string(e.Code) + ": " + e.Message + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// From finds the fault in err's chain. An ended context is Interrupted; any other error
// becomes an InternalError whose message tells nothing about it.
func From(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Wrap(err, Interrupted, "the request was given up before it began; nothing was stored")
	}
	return Wrap(err, InternalError, "something went wrong on our side; the log has the details under this request ID")
}

// Is reports whether err's chain holds a fault with this code.
func Is(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}
