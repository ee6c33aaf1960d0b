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

// BenchmarkAuditedCycle makes cycles of LOCK, POST and UNLOCK with states of 100 KB without entries of the audit log,
// which no server does, with them, and with them chained.
func BenchmarkAuditedCycle(b *testing.B) {
	bare := func(action audit.Action, decide state.Decide) state.Decide {
		return func(h state.Head) (state.Change, error) {
			change, err := benched(action, decide)(h)
			change.Events = nil
			return change, err
		}
	}
	logged := open(b, b.TempDir())
	logged.session.unchained = true
	compared(b, contender{"bare", open(b, b.TempDir()), bare}, contender{"logged", logged, benched},
		contender{"chained", open(b, b.TempDir()), benched})
}

// contender is a store with how its changes are recorded.
type contender struct {
	name   string
	store  *Store
	record func(audit.Action, state.Decide) state.Decide
}

// compared makes cycles in stores in short turns, so that whatever else the machine does slows all of them down, and
// says by how much the last is slower than the one before it.
func compared(b *testing.B, contenders ...contender) {
	b.Helper()
	took, used := make([]time.Duration, len(contenders)), make([]time.Duration, len(contenders))
	body := realState(100_000)
	const each = 200
	serial := 0
	for b.Loop() {
		for turn := range contenders {
			i := (turn + serial/each) % len(contenders) // each is first as often as the other
			processor, began := processorTime(b), time.Now()
			cycles(b, contenders[i], body, serial, each)
			took[i] += time.Since(began)
			used[i] += processorTime(b) - processor
		}
		serial += each
	}
	for i, c := range contenders {
		b.ReportMetric(float64(each*b.N)/took[i].Seconds(), c.name+"-cycles/s")
		b.ReportMetric(float64(used[i].Microseconds())/float64(each*b.N), c.name+"-cpu-µs/cycle")
	}
	b.ReportMetric(100*(took[len(took)-1].Seconds()/took[len(took)-2].Seconds()-1), "%slower")
	for _, c := range contenders {
		if err := c.store.Close(); err != nil {
			b.Error(err)
		}
	}
}

// cycles makes so many from benchWriters goroutines.
func cycles(b *testing.B, c contender, body []byte, serial, n int) {
	b.Helper()
	var wg sync.WaitGroup
	var next atomic.Int64
	for worker := range benchWriters {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if err := cycle(b, c, body, worker, serial+int(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func cycle(b *testing.B, c contender, body []byte, worker, i int) error {
	lock := &state.Lock{Info: state.LockInfo{ID: token(16), Who: "ann@laptop",
		Raw: []byte(`{"ID":"x","Who":"ann@laptop","Operation":"OperationTypeApply"}`)}}
	changed, v := edited(body, uint64(worker*1_000_000+i))
	ctx, ref := b.Context(), benchRef(worker)
	_, locked := c.store.Update(ctx, ref, nil, c.record(audit.LockTake, always(state.Change{Lock: lock})))
	_, written := c.store.Update(ctx, ref, changed, c.record(audit.StateWrite, accept(v)))
	_, freed := c.store.Update(ctx, ref, nil, c.record(audit.LockRelease, always(state.Change{Release: true})))
	return errors.Join(locked, written, freed)
}
