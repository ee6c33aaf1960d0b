package bench

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// The kinds of failures beside statuses.
const (
	Differs = "other bytes" // an answer is not what it must be
	Refused = "429"         // a limit of the organization's
	Crowded = "503"         // a limit of the server's
)

// Failure is an operation that did not do what it should.
type Failure struct {
	// Step of the mix, such as "GET".
	Step string
	// Kind is a status, Differs, or "connection".
	Kind   string
	Detail string
}

func (f *Failure) Error() string {
	text := f.Step + " " + f.Kind
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	return text
}

// at says in which step err happened, if it is a failure.
func at(step string, err error) error {
	if failure, ok := errors.AsType[*Failure](err); ok {
		failure.Step = step
	}
	return err
}

// isDoubtful reports whether a failure leaves open whether the server did what it was asked for: the
// connection broke, or the server is in trouble.
func isDoubtful(err error) bool {
	failure, ok := errors.AsType[*Failure](err)
	return ok && (failure.Kind == "connection" || strings.HasPrefix(failure.Kind, "5"))
}

// kindOf says what failures of a kind have in common.
func kindOf(err error) string {
	if failure, ok := errors.AsType[*Failure](err); ok {
		return failure.Step + " " + failure.Kind
	}
	return err.Error()
}

// wantStatus refuses an answer with another status, with what it says.
func wantStatus(answer *http.Response, want int) error {
	if answer.StatusCode == want {
		return nil
	}
	start, _ := io.ReadAll(io.LimitReader(answer.Body, 300)) // only for people
	return &Failure{Kind: strconv.Itoa(answer.StatusCode), Detail: string(start)}
}

func differs(format string, args ...any) error {
	return &Failure{Kind: Differs, Detail: fmt.Sprintf(format, args...)}
}
