package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// secrets are bodies of every size: in a row, beyond it, and of what compresses, where the
// file has another form of it.
func secrets() [][]byte {
	var all [][]byte
	for _, size := range []int{20, 100, 300, 700, 1500, 3000, 5000, 100_000} {
		all = append(all, noise(size), noise(size), bytes.Repeat(noise(size/10+20), 3))
	}
	return append(all, realState(20_000))
}

// TestPurgedBytesAreGone purges versions among others that are written, pruned and read
// meanwhile, so that rows move from page to page: no file has anything of them then.
func TestPurgedBytesAreGone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	ref := newRef("secret")
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				_, _ = s.Current(ctx, ref)
				_, _ = s.Versions(ctx, ref, 0, 100)
			}
		})
	}
	gone := churn(t, s, ref)
	wantGone(t, s, dir, gone)
	stop()
	readers.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantGone(t, s, dir, gone)
}

// TestPurgeWaitsForReaders has a reader in the way: Purge says so when its caller has no
// more time, others write meanwhile, and a second Purge makes up for it.
func TestPurgeWaitsForReaders(t *testing.T) {
	s, _ := opened(t)
	ref, other := newRef("waits"), newRef("other")
	mustPut(t, s, ref, []byte("secret"))
	letGo := pin(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	done := make(chan error)
	go func() { done <- s.Purge(ctx, ref, 1, audit.Event{}) }()
	for range 20 {
		mustPut(t, s, other, []byte("{}"))
	}
	wantFault(t, <-done, fault.StoreUnavailable)
	_, err := s.Current(t.Context(), ref)
	wantFault(t, err, fault.VersionPurged)
	letGo()
	if err := s.Purge(t.Context(), ref, 1, audit.Event{}); err != nil {
		t.Fatal(err)
	}
	if log, err := os.ReadFile(s.path + "-wal"); err != nil || bytes.Contains(log, []byte("secret")) {
		t.Errorf("the WAL still has the bytes, %v", err)
	}
	wantPragma(t, s.session.conn, "busy_timeout", "5000")
	mustPut(t, s, ref, []byte("{}"))
}

// churn writes secrets, each among others in its table, takes the others away, so that
// pages are merged and rows move, and purges the secrets. It returns those, in the forms
// that the files had of them.
func churn(t *testing.T, s *Store, ref state.Ref) (gone []stateengine.Stored) {
	t.Helper()
	others, secrets := newRef("others"), secrets()
	rand.Shuffle(len(secrets), func(i, j int) { secrets[i], secrets[j] = secrets[j], secrets[i] })
	for i, body := range secrets {
		for range rand.IntN(6) {
			mustPut(t, s, others, noise(rand.IntN(1500)))
		}
		mustPut(t, s, ref, body)
		gone = append(gone, s.bodies.Codec.Encode(body), stateengine.Stored{Encoding: stateengine.EncodingRaw, Bytes: body})
		if i%8 == 0 {
			c := &state.Candidate{ID: fmt.Sprint(i), Version: describe(body), Status: state.Open, Source: state.Pushed}
			if _, err := s.Update(t.Context(), ref, body, always(state.Change{Candidate: c})); err != nil {
				t.Fatal(err)
			}
		}
	}
	for removed := 1; removed > 0; {
		var err error
		if removed, err = s.Prune(t.Context(), others, state.Pruning{Below: 1 << 62, Limit: 1 + rand.IntN(9)},
			audit.Event{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, i := range rand.Perm(len(secrets)) {
		if err := s.Purge(t.Context(), ref, uint64(i+1), audit.Event{}); err != nil {
			t.Fatal(err)
		}
	}
	return gone
}

// wantGone looks through every file of the folder, and finds no 12 bytes in a row.
func wantGone(t *testing.T, s *Store, dir string, gone []stateengine.Stored) {
	t.Helper()
	const window = 12
	found := map[string]int{}
	for i, body := range gone {
		for at := 0; at+window <= len(body.Bytes); at += window {
			if piece := body.Bytes[at : at+window]; body.Encoding == stateengine.EncodingZstd || telling(piece) {
				found[string(piece)] = i
			}
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at+window <= len(content); at++ {
			if i, ok := found[string(content[at:at+window])]; ok {
				t.Fatalf("%s has bytes of body %d (%s, %d bytes) at %d", filepath.Base(name), i, gone[i].Encoding,
					len(gone[i].Bytes), at)
			}
		}
	}
}

// telling says that a piece is of no text that other bodies may have too.
func telling(piece []byte) bool {
	for _, b := range piece {
		if b >= 0x80 {
			return true
		}
	}
	return false
}
