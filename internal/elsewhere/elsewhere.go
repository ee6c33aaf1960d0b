// Package elsewhere reads states, with their histories where there are some, from where they were
// kept before: a folder, another http server, GitLab, S3. It changes nothing there.
package elsewhere

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
)

// MaxState is the largest state that is read.
const MaxState = 1 << 30

// Version is one of a state's that a source keeps.
type Version struct {
	// At is when it was written there; zero where the source doesn't tell.
	At time.Time
	// Label is what the source calls it, such as a serial; may be empty.
	Label string
	Body  []byte // exact bytes
}

// Source has states.
type Source interface {
	// About says what it is, for people, also in what is kept for good: it never has a secret in it,
	// nor what only concerns the machine that asks.
	About() string
	// List returns the names of all its states.
	List(ctx context.Context) ([]string, error)
	// Versions hands on those of a state, the oldest first, and ends with the first error. They
	// come one by one, so that one is in memory at a time.
	Versions(ctx context.Context, name string) iter.Seq2[Version, error]
}

// ErrNone says that a source has no state of a name.
var ErrNone = errors.New("there is no such state")

// readAll reads what is no larger than a state may be.
func readAll(from io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(from, MaxState+1))
	if err == nil && len(body) > MaxState {
		err = fmt.Errorf("it is larger than %d bytes", MaxState)
	}
	return body, err
}

// cursors are where the pages of a list have gone on. A server whose pages lead round in a circle
// would be asked for ever.
type cursors map[string]bool

// next notes where a list goes on.
func (c cursors) next(cursor string) error {
	if cursor == "" || c[cursor] {
		return errors.New("the server's list says that it goes on, and not where, or where it was already; nothing of " +
			"it was taken")
	}
	c[cursor] = true
	return nil
}

// failed hands on nothing but an error.
func failed(err error) iter.Seq2[Version, error] {
	return func(yield func(Version, error) bool) { yield(Version{}, err) }
}
