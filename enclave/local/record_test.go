package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/enclave/reconcile"
)

// book is a server that keeps records. Its answers may get lost, and it may be away.
type book struct {
	mu      sync.Mutex
	keys    []string
	logs    map[string]string
	ends    []api.IACRunEnd
	signs   []string
	calls   int
	lost    func(call int) bool // the answer of a call, which has had its effect
	away    bool
	refuses bool
	cancel  string
}

var errAway = errors.New("connection refused")

// answer is the error of a call that has had its effect.
func (b *book) answer() error {
	b.calls++
	if b.lost != nil && b.lost(b.calls) {
		return errAway
	}
	return nil
}

func (b *book) gate() error {
	switch {
	case b.away:
		return errAway
	case b.refuses:
		return fmt.Errorf("%w: run not found", reconcile.ErrNoRecord)
	}
	return nil
}

func (b *book) Begin(_ context.Context, path string, order api.IACRunOrder, key string) (api.IACRun, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.gate(); err != nil {
		return api.IACRun{}, err
	}
	if !slices.Contains(b.keys, key) {
		b.keys = append(b.keys, key)
	}
	return api.IACRun{ID: fmt.Sprint("r", len(b.keys)), Operation: order.Operation}, b.answer()
}

func (b *book) Append(_ context.Context, run api.IACRun, stage string, offset int64, piece []byte) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.gate(); err != nil {
		return 0, err
	}
	name := run.ID + " " + stage
	if int64(len(b.logs[name])) < offset {
		return 0, fmt.Errorf("%w: a gap", reconcile.ErrNoRecord)
	}
	b.logs[name] = b.logs[name][:offset] + string(piece)
	return int64(len(b.logs[name])), b.answer()
}

func (b *book) Renew(_ context.Context, _ api.IACRun, sign api.IACRunSign) (api.Lease, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.gate(); err != nil {
		return api.Lease{}, err
	}
	b.signs = append(b.signs, sign.Phase)
	return api.Lease{Every: 10, Cancel: b.cancel}, b.answer()
}

func (b *book) End(_ context.Context, run api.IACRun, end api.IACRunEnd) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.gate(); err != nil {
		return err
	}
	end.Reason = run.ID + " " + end.Reason
	if len(b.ends) == 0 || b.ends[len(b.ends)-1].Reason != end.Reason {
		b.ends = append(b.ends, end)
	}
	return b.answer()
}

func (b *book) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// recording is a folder whose runs are recorded in a book.
type recording struct {
	*book
	runner *Runner
	at     place
	told   []string
}

func newRecording(t *testing.T) *recording {
	r := &recording{book: &book{logs: map[string]string{}}}
	r.at = place{path: "e/p", dir: t.TempDir(), binary: "/bin/tofu", secrets: map[string]string{"password": "hunter2"}}
	if err := os.Mkdir(filepath.Join(r.at.dir, ".holdfast"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.runner = &Runner{RunRecords: r.book, Key: "thekey!", Tell: func(_ string, line []byte) {
		r.told = append(r.told, string(line))
	}}
	return r
}

// run records a run that prints these lines, before and behind the tool's beginning to change something.
func (r *recording) run(t *testing.T, before, behind []string, err error) {
	t.Helper()
	got := r.runner.recorded(t.Context(), r.at, "Update", func(_ context.Context, at place) (json.RawMessage, error) {
		for _, line := range before {
			at.record.line([]byte(line))
		}
		at.record.apply()
		for _, line := range behind {
			at.record.line([]byte(line))
			time.Sleep(time.Second)
		}
		return nil, err
	})
	if !errors.Is(got, err) {
		t.Errorf("%v", got)
	}
}

func (r *recording) isWhole(t *testing.T, run, plan, apply string) {
	t.Helper()
	if r.logs[run+" plan"] != plan || r.logs[run+" apply"] != apply {
		t.Errorf("the logs of %s are %q", run, r.logs)
	}
}

// Whichever answer gets lost, the record is the same, and nothing secret is in it.
func TestRecordIsTheSameWhicheverAnswerIsLost(t *testing.T) {
	for lost := 0; lost < 12; lost++ {
		synctest.Test(t, func(t *testing.T) {
			r := newRecording(t)
			r.lost = func(call int) bool { return call == lost }
			r.run(t, []string{"init thekey!"}, []string{"one", "two hunter2", "three"}, nil)
			r.isWhole(t, "r1", "init ***\n", "one\ntwo ***\nthree\n")
			if len(r.keys) != 1 || len(r.ends) != 1 || r.ends[0].Status != "Succeeded" || !slices.Contains(r.signs, "apply") {
				t.Errorf("lost %d: %q %+v %q", lost, r.keys, r.ends, r.signs)
			}
			if _, err := os.Stat(filepath.Join(r.at.dir, recordFile)); err == nil {
				t.Error("there is a record left to be ended")
			}
		})
	}
}

// While the server is away the tool goes on, and the log is sent once it is back.
func TestRecordOutlivesALostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecording(t)
		go func() {
			time.Sleep(1500 * time.Millisecond)
			r.set(func() { r.away = true })
			time.Sleep(10 * time.Minute)
			r.set(func() { r.away = false })
		}()
		var lines []string
		for i := range 700 {
			lines = append(lines, fmt.Sprint(i))
		}
		r.run(t, nil, lines, errors.New("apply failed: hunter2"))
		r.isWhole(t, "r1", "", strings.Join(lines, "\n")+"\n")
		if len(r.ends) != 1 || r.ends[0].Reason != "r1 apply failed: ***" {
			t.Errorf("%+v", r.ends)
		}
	})
}

// An end that can't be told, and a run that was killed, are told by the next one.
func TestNextRunTellsHowTheLastHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecording(t)
		go func() {
			time.Sleep(1500 * time.Millisecond)
			r.set(func() { r.away = true })
		}()
		r.run(t, nil, []string{"a", "b", "c"}, nil)
		r.set(func() { r.away = false })
		r.run(t, nil, []string{"d"}, nil)
		if err := keep(filepath.Join(r.at.dir, recordFile), keptRecord{Run: api.IACRun{ID: "killed"}}); err != nil {
			t.Fatal(err)
		}
		r.run(t, nil, []string{"e"}, nil)
		// It was killed before it could note which record it has.
		if err := keep(filepath.Join(r.at.dir, recordFile), keptRecord{Key: "asked"}); err != nil {
			t.Fatal(err)
		}
		r.run(t, nil, []string{"f"}, nil)
		want := []string{"r1 ", "r2 ", "killed it was cut off", "r3 ", "r4 it was cut off", "r5 "}
		var got []string
		for _, end := range r.ends {
			got = append(got, end.Reason)
		}
		if !slices.Equal(got, want) || r.ends[0].Status != "Succeeded" || r.ends[2].Status != "Failed" {
			t.Errorf("%q", got)
		}
	})
}

// Without a record, or when it is refused in the middle, the run goes on.
func TestRunGoesOnWithoutARecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecording(t)
		r.refuses = true
		r.run(t, nil, []string{"a"}, nil)
		r.set(func() { r.refuses, r.away = false, true })
		r.run(t, nil, []string{"a"}, nil)
		r.set(func() { r.away = false })
		go func() {
			time.Sleep(1500 * time.Millisecond)
			r.set(func() { r.refuses = true })
		}()
		r.run(t, nil, []string{"a", "b", "c"}, nil)
		if len(r.told) != 3 || !strings.Contains(r.told[2], "takes no more") {
			t.Errorf("%q", r.told)
		}
	})
}

func TestRunIsCancelledAtTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecording(t)
		r.cancel = "soft"
		err := r.runner.recorded(t.Context(), r.at, "Update", func(ctx context.Context, at place) (json.RawMessage, error) {
			at.record.apply()
			at.record.line([]byte("working"))
			<-ctx.Done()
			return nil, ctx.Err()
		})
		if !errors.Is(err, errCancelled) || len(r.ends) != 1 {
			t.Errorf("%v %+v", err, r.ends)
		}
	})
}

// A log that there is no room for says so.
func TestLogThatIsTooLongSaysSo(t *testing.T) {
	r := &record{wake: make(chan struct{}, 1)}
	_, _ = r.Write(make([]byte, maxUnsent))
	_, _ = r.Write([]byte("lost"))
	r.logs[0].unsent = nil
	_, _ = r.Write([]byte("kept\n"))
	if got := string(r.logs[0].unsent); got != "[holdfast: 4 bytes are left out: the server was away]\nkept\n" {
		t.Errorf("%q", got)
	}
}
