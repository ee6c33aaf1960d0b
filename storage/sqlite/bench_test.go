//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
)

const benchWriters = 16

// benched adds the event that every change has.
func benched(action audit.Action, decide state.Decide) state.Decide {
	return func(h state.Head) (state.Change, error) {
		change, err := decide(h)
		change.At = time.Now()
		change.Events = []audit.Event{{Action: action, Version: h.Version.Number, LockID: h.ReleasedID, Actor: audit.Actor{
			KeyID: "0f3a9c21d4e5", KeyName: "ci", Role: "writer", Address: "192.0.2.1",
			Request: "0198c0de-0000-7000-8000-000000000000",
		}}}
		return change, err
	}
}

// BenchmarkPut writes from 16 goroutines, each to a state of its own. The bodies' digests
// are computed too, as the service does.
func BenchmarkPut(b *testing.B) {
	for _, size := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("%dKB", size/1000), func(b *testing.B) {
			s := open(b, b.TempDir())
			defer s.Close()
			body := realState(size)
			parallel(b, func(worker, i int) error {
				changed, v := edited(body, uint64(worker*1_000_000+i))
				_, err := s.Update(b.Context(), benchRef(worker), changed, benched(audit.StateWrite, accept(v)))
				return err
			})
			b.ReportMetric(float64(b.N)/float64(s.writer.Commits()), "puts/commit")
		})
	}
}

// BenchmarkCycle is what one apply writes: LOCK, POST, UNLOCK.
func BenchmarkCycle(b *testing.B) {
	s := open(b, b.TempDir())
	defer s.Close()
	body := realState(10_000)
	parallel(b, func(worker, i int) error {
		lock := &state.Lock{Info: state.LockInfo{ID: token(16), Who: "ann@laptop",
			Raw: []byte(`{"ID":"x","Who":"ann@laptop","Operation":"OperationTypeApply"}`)}}
		changed, v := edited(body, uint64(worker*1_000_000+i))
		ctx, ref := b.Context(), benchRef(worker)
		_, locked := s.Update(ctx, ref, nil, benched(audit.LockTake, always(state.Change{Lock: lock})))
		_, written := s.Update(ctx, ref, changed, benched(audit.StateWrite, accept(v)))
		_, freed := s.Update(ctx, ref, nil, benched(audit.LockRelease, always(state.Change{Release: true})))
		return errors.Join(locked, written, freed)
	})
}

func benchRef(worker int) state.Ref {
	return state.Ref{Org: uuid.NewSHA1(uuid.Nil, []byte{byte(worker)}), Name: "network/production"}
}

// parallel makes b.N calls from benchWriters goroutines and reports calls per second.
func parallel(b *testing.B, call func(worker, i int) error) {
	b.Helper()
	b.ResetTimer()
	before := processorTime(b)
	var wg sync.WaitGroup
	var next atomic.Int64
	for worker := range benchWriters {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := call(worker, int(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "puts/s")
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

// processorTime is what the process has used: it depends least on what else the machine does.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkFloor appends the same uncompressed bytes to one file, with group commit: what
// the disk allows.
func BenchmarkFloor(b *testing.B) {
	for _, size := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("%dKB", size/1000), func(b *testing.B) {
			f, err := os.Create(filepath.Join(b.TempDir(), "floor"))
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			log := &floor{f: f}
			body := realState(size)
			parallel(b, func(int, int) error { return log.append(body) })
		})
	}
}

// floor is a file with group commit: one who appends syncs for all who have appended.
type floor struct {
	f        *os.File
	mu, sync sync.Mutex
	written  int64
	synced   int64
}

func (l *floor) append(body []byte) error {
	l.mu.Lock()
	_, err := l.f.Write(body)
	l.written++
	mine := l.written
	l.mu.Unlock()
	if err != nil {
		return err
	}
	l.sync.Lock()
	defer l.sync.Unlock()
	if l.synced >= mine {
		return nil
	}
	l.mu.Lock()
	upTo := l.written
	l.mu.Unlock()
	l.synced = upTo
	return l.f.Sync()
}

// BenchmarkHistory updates a state that has many versions: what one Update takes must not
// depend on how many.
func BenchmarkHistory(b *testing.B) {
	for _, versions := range []int{1, 1_000, 10_000} {
		b.Run(fmt.Sprint(versions), func(b *testing.B) {
			s := open(b, b.TempDir())
			defer s.Close()
			body := realState(10_000)
			put := func(i int) {
				changed, v := edited(body, uint64(i))
				if _, err := s.Update(b.Context(), benchRef(0), changed, accept(v)); err != nil {
					b.Fatal(err)
				}
			}
			for i := range versions {
				put(i)
			}
			b.ResetTimer()
			for i := range b.N {
				put(versions + i)
			}
		})
	}
}

// BenchmarkCurrent reads from one goroutine.
func BenchmarkCurrent(b *testing.B) {
	for _, size := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("%dKB", size/1000), func(b *testing.B) {
			s := open(b, b.TempDir())
			defer s.Close()
			body, v := edited(realState(size), 1)
			if _, err := s.Update(b.Context(), benchRef(0), body, accept(v)); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(v.Size)
			for b.Loop() {
				if _, err := s.Current(b.Context(), benchRef(0)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
