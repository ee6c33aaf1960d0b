package sqlite

import (
	"bytes"
	"context"
	"crypto/rand"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// noise returns bytes that don't compress.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// TestFull takes away the room that SQLite may use, which is a genuine SQLITE_FULL.
func TestFull(t *testing.T) {
	s, clock := opened(t)
	ref, other := newRef("full"), newRef("other")
	mustPut(t, s, ref, []byte("{}"))
	if _, err := s.Update(t.Context(), ref, nil,
		always(state.Change{Lock: &state.Lock{Info: state.LockInfo{ID: "held"}}})); err != nil {
		t.Fatal(err)
	}
	setPragma(t, s, "max_page_count = 1") // as low as it goes: the pages there are
	_, err := put(s, other, noise(100_000))
	wantFault(t, err, fault.StoreFull)
	if head, err := s.Head(t.Context(), other); err != nil || head != (state.Head{}) {
		t.Errorf("head %+v (%v), want nothing half-written", head, err)
	}
	wantBody(t, s, ref, []byte("{}"))
	wantFault(t, s.Ready(t.Context()), fault.StoreFull)
	if _, err := s.Update(t.Context(), ref, nil, always(state.Change{Release: true})); err != nil {
		t.Errorf("an UNLOCK needs no room: %v", err)
	}
	setPragma(t, s, "max_page_count = 1000000")
	clock.Add(time.Hour)
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	mustPut(t, s, other, noise(100_000))
}

// TestReadOnly wants Ready to say why, to answer from its probe for a second, and to heal.
func TestReadOnly(t *testing.T) {
	s, clock := opened(t)
	ref := newRef("read-only")
	mustPut(t, s, ref, []byte("{}"))
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	setPragma(t, s, "query_only = 1")
	_, err := put(s, ref, []byte("[]"))
	wantFault(t, err, fault.StoreUnavailable)
	wantBody(t, s, ref, []byte("{}"))
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("within the second of the last probe: %v", err)
	}
	clock.Add(stateengine.ReadyFor)
	err = s.Ready(t.Context())
	wantFault(t, err, fault.StoreUnavailable)
	if !strings.Contains(fault.From(err).Message, "read-only") {
		t.Errorf("Ready says %q", fault.From(err).Message)
	}
	setPragma(t, s, "query_only = 0")
	clock.Add(stateengine.ReadyFor)
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("after it was writable again: %v", err)
	}
}

// TestReadyHangs wants an answer though the writer gives none.
func TestReadyHangs(t *testing.T) {
	s, _ := opened(t)
	defer hold(t, s)()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := s.probeWrite(ctx); err == nil {
		t.Error("the probe wrote, though the writer was held")
	}
}

// TestCorrupt damages rows behind the store's back.
func TestCorrupt(t *testing.T) {
	for name, damage := range map[string]string{
		"bytes":        `UPDATE bodies SET bytes = zeroblob(length(bytes)) WHERE id = 1`,
		"one bit":      `UPDATE bodies SET bytes = CAST(substr(bytes, 1, 99) || x'01' || substr(bytes, 101) AS BLOB), encoding = 'raw' WHERE id = 1`,
		"truncated":    `UPDATE bodies SET bytes = substr(bytes, 1, 50) WHERE id = 1`,
		"encoding":     `UPDATE bodies SET encoding = 'rot13' WHERE id = 1`,
		"bytes gone":   `DELETE FROM bodies WHERE id = 1`,
		"version gone": `UPDATE states SET newest = 99 WHERE id = 1`,
		"digest":       `UPDATE versions SET digest = x'00' WHERE id = 1`,
		"size":         `UPDATE versions SET size = size - 1 WHERE id = 1`,
		"huge size":    `UPDATE versions SET size = 1 << 60 WHERE id = 1`,
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := opened(t)
			ref, other, body := newRef("damaged"), newRef("fine"), realState(10_000)
			mustPut(t, s, ref, body)
			mustPut(t, s, other, body)
			execFile(t, filepath.Dir(s.path), damage)
			got, err := s.Current(t.Context(), ref)
			wantFault(t, err, fault.StateCorrupt)
			if got.Body != nil || got.Number != 0 {
				t.Error("there is a snapshot beside the error")
			}
			wantBody(t, s, other, body)
			mustPut(t, s, other, body)
		})
	}
}

// TestDeletedBytesAreGone removes one version's bytes as an owner who leaked a secret
// will: afterwards no file has them.
func TestDeletedBytesAreGone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	secret, ref := noise(50_000), newRef("secret")
	mustPut(t, s, ref, secret)
	mustPut(t, s, ref, []byte("{}"))
	err := s.submit(t.Context(), server(), 0, func(t *session) error {
		_, err := t.conn.ExecContext(context.Background(), "DELETE FROM bodies WHERE id = 1")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Version(t.Context(), ref, 1)
	wantFault(t, err, fault.StateCorrupt)
	wantBody(t, s, ref, []byte("{}"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+16 <= len(secret); i += 16 {
		if bytes.Contains(content, secret[i:i+16]) {
			t.Fatalf("16 bytes at %d are still in the file", i)
		}
	}
}

func TestSerials(t *testing.T) {
	s, _ := opened(t)
	for _, serial := range []uint64{0, 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64} {
		ref, v := newRef("serial"), describe([]byte("{}"))
		v.Serial = serial
		if _, err := s.Update(t.Context(), ref, []byte("{}"), accept(v)); err != nil {
			t.Fatal(err)
		}
		if head, err := s.Head(t.Context(), ref); err != nil || head.Version.Serial != serial {
			t.Errorf("serial %d (%v), want %d", head.Version.Serial, err, serial)
		}
	}
}

// TestLarge stores 20 MB, once of what compresses and once of what doesn't.
func TestLarge(t *testing.T) {
	s, _ := opened(t)
	for _, body := range [][]byte{bytes.Repeat(realState(100_000), 200), noise(20_000_000)} {
		ref := newRef("large")
		mustPut(t, s, ref, body)
		wantBody(t, s, ref, body)
	}
}

func TestTooLarge(t *testing.T) {
	s, _ := opened(t)
	_, err := s.Update(t.Context(), newRef("large"), make([]byte, stateengine.MaxBody+1), always(state.Change{}))
	wantFault(t, err, fault.BodyTooLarge)
}

// TestWrongChange refuses a version that would be damaged from the start.
func TestWrongChange(t *testing.T) {
	s, _ := opened(t)
	size, number := describe([]byte("{}")), describe([]byte("{}"))
	size.Size, number.Number = 3, 7
	for _, decide := range []state.Decide{accept(size), always(state.Change{Version: &number})} {
		if _, err := s.Update(t.Context(), newRef("wrong"), []byte("{}"), decide); err == nil {
			t.Error("it was accepted")
		}
	}
}
