// Package suite holds what the conformance suites of all stores share: how they compare, close
// and run workers, and how they are shown to notice stores that break their promises.
package suite

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/fault"
)

// Together runs n workers at once. The first error ends the context of the others, so
// that nobody waits for what a failed one still holds, and fails the test.
func Together(t *testing.T, n int, work func(ctx context.Context, worker int) error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := work(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		t.Fatal(err)
	}
}

// Equal shows where the two differ. Most often they don't, and cmp takes long to
// say so of many records or large locks: what is deeply equal is so for cmp too.
func Equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if reflect.DeepEqual(want, got) {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, strings.TrimSpace(diff))
	}
}

// Fault wants an error with this code.
func Fault(t *testing.T, what string, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Fatalf("%s: error %v, want one with %s", what, err, code)
	}
}
