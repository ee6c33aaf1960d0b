//go:build e2e

package test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// Whatever a script waits for comes within awaitLimit or never.
const (
	awaitLimit    = 3 * time.Minute
	awaitInterval = 50 * time.Millisecond
)

// permanent ends a poll at once.
type permanent struct{ error }

// poll calls attempt until it succeeds, and gives up after awaitLimit.
func poll(attempt func() error) error { return pollFor(awaitLimit, attempt) }

func pollFor(limit time.Duration, attempt func() error) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(awaitInterval) {
		err := attempt()
		if err == nil {
			return nil
		}
		if _, ok := errors.AsType[permanent](err); ok {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %s: %w", limit, err)
		}
	}
}

func await(w *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 2, 5); err != nil {
		return err
	}
	what, rest := args[0], args[1:]
	switch what {
	case "exists":
		return poll(func() error {
			_, err := os.Stat(ts.MkAbs(rest[0]))
			return err
		})
	case "grep":
		return awaitGrep(ts, rest)
	case "answer":
		return poll(func() error { return awaitAnswer(ts, rest) })
	case "http":
		return poll(func() error { return request(w, ts, rest) })
	}
	return fmt.Errorf("%q is nothing to wait for", what)
}

func awaitGrep(ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 2, 2); err != nil {
		return err
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	if err != nil {
		return err
	}
	return poll(func() error {
		text, err := os.ReadFile(ts.MkAbs(args[1]))
		if err == nil && !pattern.Match(text) {
			err = fmt.Errorf("no match in %s", args[1])
		}
		return err
	})
}

// awaitAnswer is one look at whether a GET's answer has the pattern.
func awaitAnswer(ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 2, 2); err != nil {
		return permanent{err}
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	if err != nil {
		return permanent{err}
	}
	answer, err := send(ts, "GET", args[1], nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && !pattern.Match(text) {
		err = fmt.Errorf("no match in\n%s", text)
	}
	return err
}
