package sqlite

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
)

// BenchmarkSealedCycle makes cycles of LOCK, POST and UNLOCK with states of 100 KB in a store that is not sealed and in
// one that is, in short turns, so that whatever else the machine does slows both of them down.
func BenchmarkSealedCycle(b *testing.B) {
	stores := []*Store{open(b, b.TempDir()), openSealed(b, b.TempDir())}
	names := []string{"plain", "sealed"}
	var took, used [2]time.Duration
	body := realState(100_000)
	const each = 200
	serial := 0
	for b.Loop() {
		for turn := range stores {
			i := (turn + serial/each) % len(stores) // each is first as often as the other
			s := stores[i]
			processor, began := processorTime(b), time.Now()
			cycles(b, s, body, serial, each)
			took[i] += time.Since(began)
			used[i] += processorTime(b) - processor
		}
		serial += each
	}
	for i, name := range names {
		b.ReportMetric(float64(each*b.N)/took[i].Seconds(), name+"-cycles/s")
		b.ReportMetric(float64(used[i].Microseconds())/float64(each*b.N), name+"-cpu-µs/cycle")
	}
	b.ReportMetric(100*(took[1].Seconds()/took[0].Seconds()-1), "%slower")
	for _, s := range stores {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}
}

// cycles makes so many from benchWriters goroutines.
func cycles(b *testing.B, s *Store, body []byte, serial, n int) {
	b.Helper()
	var wg sync.WaitGroup
	var next atomic.Int64
	for worker := range benchWriters {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if err := cycle(b, s, body, worker, serial+int(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func cycle(b *testing.B, s *Store, body []byte, worker, i int) error {
	lock := &state.Lock{Info: state.LockInfo{ID: token(16), Who: "ann@laptop",
		Raw: []byte(`{"ID":"x","Who":"ann@laptop","Operation":"OperationTypeApply"}`)}}
	changed, v := edited(body, uint64(worker*1_000_000+i))
	ctx, ref := b.Context(), benchRef(worker)
	_, locked := s.Update(ctx, ref, nil, benched(audit.LockTake, always(state.Change{Lock: lock})))
	_, written := s.Update(ctx, ref, changed, benched(audit.StateWrite, accept(v)))
	_, freed := s.Update(ctx, ref, nil, benched(audit.LockRelease, always(state.Change{Release: true})))
	return errors.Join(locked, written, freed)
}
