package dual

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
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

// TestShredLeavesNothingInFiles looks for an organization's resources in the outbox's files, which both sides had got
// long before.
func TestShredLeavesNothingInFiles(t *testing.T) {
	r := newRig(t, nil)
	first, org := uuid.New(), uuid.New()
	secret := make([]byte, 64<<10) // of noise, as what the outbox keeps is packed
	_, _ = rand.Read(secret)       // never fails
	shred := func(org uuid.UUID) {
		t.Helper()
		for removed := 1; removed > 0; {
			var err error
			if removed, err = r.Shred(t.Context(), org, 9); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.mustAppend(newBatch(first, "a", 1))
	shred(first)
	batch := newBatch(org, "a", 1)
	batch.Resources[0].Attributes = secret
	r.mustAppend(batch)
	r.settled()
	r.idle()
	shred(org)
	files, err := filepath.Glob(filepath.Join(r.options.Dir, "outbox.db*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(data, secret[1000:1100]); i >= 0 {
			t.Errorf("%s has it at %d", filepath.Base(file), i)
		}
	}
}
