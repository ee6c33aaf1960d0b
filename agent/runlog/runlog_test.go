package runlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/agent/runlog"
)

func create(t *testing.T, maxBytes int64) *runlog.Log {
	t.Helper()
	log, err := runlog.Create(filepath.Join(t.TempDir(), "log"), maxBytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return log
}

func read(t *testing.T, log *runlog.Log) string {
	t.Helper()
	size, _, _ := log.State()
	raw, err := io.ReadAll(io.NewSectionReader(log, 0, size))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// What is within the bound is there as it came; what is beyond loses its middle only, and says
// how much that is.
func TestLogIsTruncatedInItsMiddle(t *testing.T) {
	const bound = 8 << 10
	for _, size := range []int{0, 1, 3000, 3840, 3841, 5000, 7680, 7681, 9000, 11520, 11521, 30_000, 100_001} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			log := create(t, bound)
			text := numbered(size)
			for rest := text; rest != ""; {
				n := min(1+rand.IntN(1000), len(rest))
				if _, err := io.WriteString(log, rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := errors.Join(log.End(), log.End()); err != nil {
				t.Fatal(err)
			}
			got := read(t, log)
			if len(got) > bound {
				t.Errorf("it has %d bytes, more than %d", len(got), bound)
			}
			half := (bound - 512) / 2
			if size <= half && got != text {
				t.Error("a log within the bound is not what came")
			}
			if !strings.HasPrefix(got, text[:min(size, half)]) ||
				!strings.HasSuffix(got, text[max(min(half, size), size-half):]) {
				t.Errorf("its first or its last half is not what came")
			}
			if lost := size - 2*half; lost > 0 &&
				!strings.Contains(got, fmt.Sprintf("[holdfast: %d bytes are left out here]", lost)) {
				t.Errorf("it doesn't say that %d bytes are left out", lost)
			}
			if size > half && size <= 2*half && strings.Contains(got, "left out here") {
				t.Error("it says that something is left out, and nothing is")
			}
		})
	}
}

func numbered(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()[:size]
}

// It is the same log however its text is cut: an executor that begins anew makes it again, and
// goes on by offsets.
func TestLogIsTheSameHoweverItComes(t *testing.T) {
	text := numbered(50_000)
	var first string
	for _, step := range []int{1, 7, 4096, 50_000} {
		log := create(t, 10_000)
		for at := 0; at < len(text); at += step {
			if _, err := io.WriteString(log, text[at:min(at+step, len(text))]); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.End(); err != nil {
			t.Fatal(err)
		}
		got := read(t, log)
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("in steps of %d it is another one", step)
		}
	}
}

var errDown = errors.New("no route to host")

// far is a log on a server.
type far struct {
	text []byte
	fail func(call int) error
	call int
}

func (f *far) append(_ context.Context, offset int64, piece []byte) (int64, error) {
	f.call++
	if f.fail != nil {
		if err := f.fail(f.call); err != nil {
			return int64(len(f.text)), err
		}
	}
	end := int64(len(f.text))
	if offset > end {
		return end, errGap
	}
	f.text = append(f.text[:offset], piece...)
	return int64(len(f.text)), nil
}

var errGap, errNever = errors.New("gap"), errors.New("never")

func judge(err error) runlog.Verdict {
	switch {
	case errors.Is(err, errGap):
		return runlog.Elsewhere
	case errors.Is(err, errNever):
		return runlog.Never
	}
	return runlog.Again
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestSenderBringsAllOfItAfterAnOutage(t *testing.T) {
	log, text := create(t, 0), numbered(3<<20)
	synctest.Test(t, func(t *testing.T) {
		server := &far{fail: func(call int) error {
			if call%3 != 0 {
				return errDown
			}
			return nil
		}}
		sender := runlog.Sender{Log: log, Append: server.append, Judge: judge, Pause: pause}
		done := make(chan error)
		go func() { done <- sender.Run(t.Context()) }()
		for at := 0; at < len(text); at += 1 << 18 {
			if _, err := io.WriteString(log, text[at:min(at+1<<18, len(text))]); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if err := errors.Join(log.End(), <-done); err != nil {
			t.Fatal(err)
		}
		if string(server.text) != text || sender.Sent() != int64(len(text)) {
			t.Errorf("the server has %d bytes, wanted %d", len(server.text), len(text))
		}
	})
}

// A server that has lost something, as one that was restored has, is sent it again.
func TestSenderGoesBackToAGap(t *testing.T) {
	log := create(t, 0)
	synctest.Test(t, func(t *testing.T) {
		server := &far{}
		sender := runlog.Sender{Log: log, Append: server.append, Judge: judge, Pause: pause}
		done := make(chan error)
		go func() { done <- sender.Run(t.Context()) }()
		_, _ = io.WriteString(log, "one\n")
		synctest.Wait()
		server.text = server.text[:2]
		_, _ = io.WriteString(log, "two\n")
		if err := errors.Join(log.End(), <-done); err != nil || string(server.text) != "one\ntwo\n" {
			t.Errorf("the server has %q, %v", server.text, err)
		}
	})
}

// What the server has already is not sent again piece by piece.
func TestSenderJumpsToWhatTheServerLacks(t *testing.T) {
	log, text := create(t, 0), numbered(5<<20)
	_, _ = io.WriteString(log, text)
	if err := log.End(); err != nil {
		t.Fatal(err)
	}
	calls := 0
	sender := runlog.Sender{Log: log, Judge: judge, Pause: pause,
		Append: func(_ context.Context, offset int64, piece []byte) (int64, error) {
			calls++
			return max(offset+int64(len(piece)), 4<<20), nil
		}}
	if err := sender.Run(t.Context()); err != nil || calls != 2 {
		t.Errorf("it takes %d calls, %v", calls, err)
	}
}

func TestSenderEndsWhenNothingIsAccepted(t *testing.T) {
	log := create(t, 0)
	_, _ = io.WriteString(log, "text")
	server := &far{fail: func(int) error { return errNever }}
	sender := runlog.Sender{Log: log, Append: server.append, Judge: judge, Pause: pause}
	if err := sender.Run(t.Context()); !errors.Is(err, errNever) || server.call != 1 {
		t.Errorf("it ends with %v after %d calls", err, server.call)
	}
}

func TestFollowReadsToTheEnd(t *testing.T) {
	path, text := filepath.Join(t.TempDir(), "out"), numbered(300_000)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f, err := os.Create(path)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for at := 0; at < len(text); at += 50_000 {
			_, _ = f.WriteString(text[at:min(at+50_000, len(text))])
		}
	}()
	var got bytes.Buffer
	if err := runlog.Follow(t.Context(), path, ended, &got); err != nil || got.String() != text {
		t.Errorf("it reads %d bytes, %v; wanted %d", got.Len(), err, len(text))
	}
}

func TestFollowOfNoFileEndsWithItsCommand(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	if err := runlog.Follow(t.Context(), filepath.Join(t.TempDir(), "none"), ended, io.Discard); err != nil {
		t.Error(err)
	}
}
