package spans_test

import (
	"context"
	"testing"

	"github.com/holdfast/holdfast/internal/spans"
)

// Where nobody asked for traces, a part of a request costs nothing.
func TestNothingIsAllocatedWithoutTraces(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, 1)
	if n := testing.AllocsPerRun(100, func() {
		inner, end := spans.Start(ctx, "commit")
		end(nil)
		if inner != ctx {
			t.Error("it has another context")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
