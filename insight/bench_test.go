package insight_test

import (
	"fmt"
	"maps"
	"runtime"
	"testing"
	"time"

	"github.com/holdfast/holdfast/insight"
	"github.com/holdfast/holdfast/insight/facts"
	"github.com/holdfast/holdfast/insight/insighttest"
	"github.com/holdfast/holdfast/internal/suite"
)

// large is a plan of so many changes, of all types that rules look at, each with as many attributes
// as resources usually have, in three places as the tools write them.
func large(t testing.TB, n int) []byte {
	all := examples(t)
	list := make([]insighttest.Resource, n)
	for i := range list {
		one := all[i%len(all)]
		values := object{"id": fmt.Sprintf("i-%08d", i), "arn": fmt.Sprintf("arn:aws:x:eu-west-1:123456789012:y/%d", i),
			"tags": object{"Name": fmt.Sprintf("name %d", i), "team": "platform", "env": "prod"}, "timeouts": nil}
		for k := range 15 {
			values[fmt.Sprintf("attribute_%d", k)] = fmt.Sprintf("value %d of %d", k, i)
		}
		maps.Copy(values, one.Passes)
		if i%20 == 0 {
			maps.Copy(values, one.Fails)
		}
		list[i] = insighttest.Resource{Address: fmt.Sprintf("%s.r[%d]", one.Type, i), Actions: []string{"update"},
			Before: values,
			After:  values, Unknown: object{"etag": true}, Sensitive: object{"attribute_3": true}}
	}
	return insighttest.JSON(list...)
}

// BenchmarkInsight makes an insight of a plan's JSON with all built-in rules, compiled before.
func BenchmarkInsight(b *testing.B) {
	e := engine(b)
	for _, n := range []int{100, 1000, 10_000} {
		raw := large(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				of(b, e, raw, insight.Options{})
			}
		})
	}
}

// BenchmarkStages parts the work.
func BenchmarkStages(b *testing.B) {
	e, raw := engine(b), large(b, 10_000)
	plan, err := facts.ReadBytes(raw, facts.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, err := facts.ReadBytes(raw, facts.Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("judge", func(b *testing.B) {
		for b.Loop() {
			if _, err := e.Of(b.Context(), plan, insight.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCompile compiles the built-in rules.
func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		engine(b)
	}
}

// TestMemoryOfLargePlans: what is live and not yet collected while a large plan is looked at stays
// within bounds, the plan's own bytes with it.
func TestMemoryOfLargePlans(t *testing.T) {
	suite.Deep(t)
	const limit = 300 << 20
	e, raw := engine(t), large(t, 10_000)
	runtime.GC()
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		var peak uint64
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
			select {
			case <-done:
				most <- peak
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	all := of(t, e, raw, insight.Options{})
	close(done)
	peak := <-most
	t.Logf("%d MiB of JSON, %d findings, at most %d MiB of heap", len(raw)>>20, len(all.Findings), peak>>20)
	if peak > limit {
		t.Errorf("%d MiB of heap for %d MiB of JSON", peak>>20, len(raw)>>20)
	}
}
