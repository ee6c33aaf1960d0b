package dual

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
)

// never is a timer that does not fire.
func never(time.Duration) <-chan time.Time { return nil }

// TestCloseWhileShredding closes the store while Shred removes what a side is owed.
func TestCloseWhileShredding(t *testing.T) {
	r := newRig(t, func(o *Options) { o.After = never })
	org := uuid.New()
	r.mysql.set(fails)
	r.mustAppend(newBatch(org, "a", 1))
	if removed, err := r.Shred(t.Context(), org, 9); removed != 1 || err != nil {
		t.Fatalf("Shred removed %d, %v", removed, err)
	}
	entered, leave := make(chan struct{}), make(chan struct{})
	go func() {
		_ = r.outbox.do(uuid.Nil, func(tx) error {
			close(entered)
			<-leave
			return nil
		})
	}()
	<-entered
	shredded, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := r.Shred(context.Background(), org, 9)
		shredded <- err
	}()
	if !soon(func() bool { return r.outbox.writer.Waiting() > 0 }) {
		t.Fatal("Shred does not reach the outbox")
	}
	go func() { closed <- r.Close() }()
	if !soon(func() bool { return r.stop.Err() != nil }) {
		t.Fatal("Close does not begin")
	}
	r.replays.Wait() // for who replays to have left
	close(leave)
	for what, done := range map[string]chan error{"Shred": shredded, "Close": closed} {
		select {
		case err := <-done:
			if what == "Close" && err != nil {
				t.Errorf("Close: %v", err)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s does not return", what)
		}
	}
}
