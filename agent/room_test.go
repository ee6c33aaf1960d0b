package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A full disk is waited for, though not for ever, nor by a stage that is to end.
func TestWithRoom(t *testing.T) {
	full := fmt.Errorf("can't write: %w", syscall.ENOSPC)
	for name, test := range map[string]struct {
		errs      []error // of the first tries; the last one stays
		cancelled bool
		want      error
		tries     int
	}{
		"room":                  {errs: []error{nil}, tries: 1},
		"room, later":           {errs: []error{full, ErrNeverBegun, nil}, tries: 3},
		"other trouble":         {errs: []error{full, context.Canceled}, want: context.Canceled, tries: 2},
		"no room, and its end":  {errs: []error{full}, cancelled: true, want: full, tries: 1},
		"no room for ten hours": {errs: []error{full}, want: full},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stage{executor: &Executor{settings: Settings{LogPatience: time.Hour}}, cancels: newCancels(),
					log: slog.New(slog.DiscardHandler)}
				if test.cancelled {
					s.cancels.raise(soft)
				}
				tries := 0
				err := s.withRoom(t.Context(), "a test", func() error {
					tries++
					return test.errs[min(tries, len(test.errs))-1]
				})
				if !errors.Is(err, test.want) || test.tries > 0 && tries != test.tries {
					t.Errorf("%v after %d tries", err, tries)
				}
			})
		})
	}
}
