package sqlite

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/bench/sample"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// BenchmarkVersions writes versions of one state that changes a little, stored whole, as
// deltas, and as deltas whose base has to be read each time. It says what a version takes on
// disk, with its rows and events, what CPU a write takes, and how long the version takes that
// is read slowest.
//
//	go test ./storage/sqlite -run '^$' -bench Versions -benchtime 200x
func BenchmarkVersions(b *testing.B) {
	for _, size := range []int{10_000, 20_000, 100_000, 1_000_000, 10_000_000} {
		for _, how := range []struct {
			name      string
			deltaFrom int
			bases     int
		}{{"whole", math.MaxInt, stateengine.BasesBytes}, {"deltas", stateengine.DeltaFrom, stateengine.BasesBytes},
			{"deltas,read", stateengine.DeltaFrom, 0}} {
			b.Run(fmt.Sprintf("%dKB/%s", size/1000, how.name), func(b *testing.B) {
				s := open(b, b.TempDir())
				defer s.Close()
				s.bodies.DeltaFrom, s.bodies.Bases = how.deltaFrom, stateengine.NewBases(how.bases)
				b.ReportMetric(cpuOfPuts(b, s, size), "µs-cpu/put")
				b.ReportMetric(slowest(b, s), "ms/slowest-read")
				b.ReportMetric(onDisk(b, s)/float64(b.N), "B-disk/version")
			})
		}
	}
}

// cpuOfPuts returns microseconds for each put, without what makes the bodies.
func cpuOfPuts(b *testing.B, s *Store, size int) float64 {
	b.Helper()
	changing, spent := sample.NewState(size, 1), time.Duration(0)
	for range b.N {
		body := append([]byte(nil), changing.Bytes()...)
		changing.Change()
		v := state.Version{Serial: 1, Lineage: "3f0c2f51-6d0a-7c0d-9a3e-0f4c1b7d2e65", Size: int64(size),
			Digest: sha256.Sum256(body), CreatedAt: time.Now()}
		before := cpuTime(b)
		if _, err := s.Update(b.Context(), benchRef(0), body, benched(audit.StateWrite, accept(v))); err != nil {
			b.Fatal(err)
		}
		spent += cpuTime(b) - before
	}
	return float64(spent.Microseconds()) / float64(b.N)
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// slowest returns the milliseconds of the version that takes longest, at its best of three.
func slowest(b *testing.B, s *Store) float64 {
	b.Helper()
	worst := time.Duration(0)
	for i := range b.N {
		best := time.Hour
		for range 3 {
			start := time.Now()
			if _, err := s.Version(b.Context(), benchRef(0), uint64(i+1)); err != nil {
				b.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
		worst = max(worst, best)
	}
	return float64(worst.Microseconds()) / 1000
}

// onDisk returns the length of the database file once the WAL is in it.
func onDisk(b *testing.B, s *Store) float64 {
	b.Helper()
	if err := s.emptyLog(b.Context()); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(s.path)
	if err != nil {
		b.Fatal(err)
	}
	return float64(info.Size())
}
