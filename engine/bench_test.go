package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
)

func things(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "resource \"fake_thing\" \"t%d\" {\n  name = \"t%d\"\n}\n", i, i)
	}
	return b.String()
}

// BenchmarkPlan10000 plans ten thousand resources that need no change.
func BenchmarkPlan10000(b *testing.B) {
	s := newSite(b, things(10_000))
	if _, err := s.apply(plan.Options{}, apply.Options{Parallelism: 1000}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s.settled(b)
	}
}

// BenchmarkApply1000 makes a thousand independent objects, ten at once, each of which takes 50 ms.
func BenchmarkApply1000(b *testing.B) {
	for b.Loop() {
		s := newSite(b, things(1000))
		s.world.Latency = 50 * time.Millisecond
		if _, err := s.apply(plan.Options{}, apply.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
